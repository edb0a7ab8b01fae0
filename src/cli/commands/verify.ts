import { commandWords } from '../../config/command-words.ts';
import { signingKey } from '../../credentials/signing-key.ts';
import {
  type MatchedKey,
  verificationKeysOf,
  verificationKeysOfTexts,
} from '../../credentials/verification-keys.ts';
import { describeIn, isSignatureError, type SignatureErrorCode } from '../../errors/errors.ts';
import { printableText } from '../../internal/printable-text.ts';
import { verifyBody } from '../../signature/verify-body.ts';
import { readDeliveries } from '../deliveries/saved-deliveries.ts';
import { allCredentials, readConfiguration } from '../inputs/configuration.ts';
import { defineCommand } from '../terminal/command.ts';
import { exitCodes } from '../terminal/context.ts';
import { formatFlags, purposeFlag, samples, signingFlags } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';

interface Verdict {
  readonly source: string;
  readonly verified: boolean;
  readonly key?: MatchedKey;
  readonly code?: SignatureErrorCode;
  readonly message?: string;
}

const flags = { purpose: purposeFlag, ...signingFlags, ...formatFlags };

export default defineCommand({
  brief: 'Verify the signature of bodies',
  about:
    'Verifies raw bodies or saved deliveries with every key there is. Exits with 1 if one does not match: "explain" says why.',
  examples: [
    'partner-exchange verify event.json',
    'partner-exchange verify --format json ./events',
    'partner-exchange verify --purpose general < body.json',
  ],
  flags,
  args: samples,
  async run(context, flags, ...paths) {
    const output = openOutput(context, flags);
    const configuration = await readConfiguration(context, flags);
    const scheme = configuration.deployment.signature;
    const credentials = allCredentials(configuration);
    const ring =
      flags.purpose === 'order'
        ? verificationKeysOf(credentials, scheme)
        : verificationKeysOfTexts(credentials.map((each) => signingKey(each, 'general')));
    const deliveries = await readDeliveries(context, paths);
    const results = deliveries.map(({ source, body }): Verdict => {
      try {
        const { keyIndex } = verifyBody(body, { key: ring.map(({ text }) => text), scheme });
        return { source, verified: true, key: ring[keyIndex]?.matched ?? { index: keyIndex } };
      } catch (error) {
        if (!isSignatureError(error)) throw error;
        return { source, verified: false, code: error.code, message: describeIn(commandWords, error) };
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
    return failed.length === 0 ? exitCodes.ok : exitCodes.findings;
  },
});
