import type { SigningPurpose } from '../../credentials/signing-key.ts';
import type { MatchedKey } from '../../credentials/verification-keys.ts';
import { isSignatureError, type SignatureErrorCode } from '../../errors/signature-error.ts';
import { printableText } from '../../redaction/printable-text.ts';
import { verifyBody } from '../../signature/verify-body.ts';
import { exitCodes } from '../context/exit-code.ts';
import { readDeliveries } from '../deliveries/read-deliveries.ts';
import { allCredentials, readConfiguration } from '../input/read-keys.ts';
import { verificationKeys } from '../input/verification-keys.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags, SigningFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface VerifyFlags extends CommonFlags, FormatFlags, SigningFlags {
  readonly purpose: SigningPurpose;
}

interface Verdict {
  readonly source: string;
  readonly verified: boolean;
  /** Which key matched. */
  readonly key?: MatchedKey;
  readonly code?: SignatureErrorCode;
  readonly message?: string;
}

/** Verifies bodies, and says of each whether its signature is right. */
export const verify: RunCommand<VerifyFlags, string[]> = async (context, flags, ...paths) => {
  const output = openOutput(context, flags);
  const configuration = await readConfiguration(context, flags);
  const scheme = configuration.deployment.signature;
  const ring = verificationKeys(allCredentials(configuration), { purpose: flags.purpose, scheme });
  const deliveries = await readDeliveries(context, paths);
  const results = deliveries.map(({ source, body }): Verdict => {
    try {
      const { keyIndex } = verifyBody(body, { key: ring.keys, scheme });
      return { source, verified: true, key: ring.labels[keyIndex] ?? { index: keyIndex } };
    } catch (error) {
      if (!isSignatureError(error)) throw error;
      return { source, verified: false, code: error.code, message: error.message };
    }
  });
  const failed = results.filter(({ verified }) => !verified);
  output.result({ results }, (paint) =>
    results.map(({ source, verified, key, message = '' }) =>
      verified
        ? `${paint('green', 'verified')} ${printableText(source)}${key?.merchant ? ` (merchant ${printableText(key.merchant)})` : ''}`
        : `${paint('red', 'refused')}  ${printableText(source)}: ${message}`,
    ),
  );
  if (failed.length === 0) return exitCodes.ok;
  if (failed.some(({ code }) => code === 'signature_mismatch')) {
    output.say(
      'Next: "partner-exchange explain" says why, "partner-exchange detect" finds how it was signed.',
    );
  }
  return exitCodes.findings;
};
