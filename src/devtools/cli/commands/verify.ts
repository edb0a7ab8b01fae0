import { signingKey } from '../../../credentials/signing-key.ts';
import { type MatchedKey, verificationKeysOf } from '../../../credentials/verification-keys.ts';
import { wholeMessage } from '../../../errors/errors.ts';
import { printableText } from '../../../internal/printable-text.ts';
import type { Finding } from '../../diagnostics/finding.ts';
import { explainMismatch } from '../../diagnostics/mismatch/explain-mismatch.ts';
import { tryVerify } from '../../diagnostics/try-verify.ts';
import { eachDelivery, expandPaths } from '../deliveries/saved-deliveries.ts';
import { allCredentials, readConfiguration } from '../inputs/configuration.ts';
import { defineCommand } from '../terminal/command.ts';
import { exitCodes } from '../terminal/context.ts';
import { findingLines } from '../terminal/finding-lines.ts';
import { arg, formatFlags, keysFlag, manyArgs, purposeFlag } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';

/** Bodies that are explained: a search for each takes up to half a second. */
const mostExplained = 3;

interface BodyResult {
  readonly source: string;
  readonly verified: boolean;
  readonly key?: MatchedKey;
  readonly code?: string;
  readonly message?: string;
  readonly findings?: readonly Finding[] | undefined;
}

const flags = { purpose: purposeFlag, keys: keysFlag, ...formatFlags };

export default defineCommand({
  brief: 'Verify the signature of bodies, and explain one that does not match',
  about:
    'Verifies raw bodies or saved deliveries with every key there is. Says of the first ones that do not match what would have matched and what to do, and exits with 1.',
  examples: [
    'partner-exchange verify event.json',
    'partner-exchange verify --format json ./events',
    'partner-exchange verify --purpose general < body.json',
  ],
  json: '{ results: [{ source, verified, key?: { index, merchant?, partnerId?, partnerCode? }, code?, message?, findings? }] }',
  flags,
  args: manyArgs(arg('file', 'Raw bodies, saved deliveries, or folders of them (default: stdin)')),
  async run(context, flags, ...paths) {
    const output = openOutput(context, flags);
    const configuration = await readConfiguration(context, flags);
    const scheme = configuration.deployment.signature;
    const credentials = allCredentials(configuration);
    const ring =
      flags.purpose === 'order'
        ? verificationKeysOf(credentials, scheme)
        : credentials.map((set, index) => ({ text: signingKey(set, 'general'), matched: { index } }));
    const keys = ring.map(({ text }) => text);
    let explained = 0;
    const results: BodyResult[] = [];
    const files = await expandPaths(context, paths);
    const refuse = ({ error }: { readonly error: unknown }) => {
      throw error;
    };
    for await (const { source, body } of eachDelivery(context, files, refuse)) {
      const { refusal, keyIndex } = tryVerify(body, keys, scheme);
      if (refusal === undefined) {
        const key: MatchedKey = ring[keyIndex]?.matched ?? { index: keyIndex };
        results.push({ source, verified: true, key });
        continue;
      }
      const { code } = refusal;
      const findings =
        explained++ < mostExplained
          ? explainMismatch(body, { credentials, scheme, purpose: flags.purpose }).findings
          : undefined;
      results.push({ source, verified: false, code, message: wholeMessage(refusal), findings });
    }
    const failed = results.filter(({ verified }) => !verified);
    output.result({ results }, (paint) =>
      results.flatMap(({ source, key, message, findings = [] }) => {
        if (message !== undefined)
          return [
            `${paint('red', 'refused')}  ${printableText(source)}: ${message}`,
            ...findingLines(findings, paint),
          ];
        const merchant = key?.merchant ? ` (merchant ${printableText(key.merchant)})` : '';
        return `${paint('green', 'verified')} ${printableText(source)}${merchant}`;
      }),
    );
    return failed.length === 0 ? exitCodes.ok : exitCodes.findings;
  },
});
