import { readBoundedText } from '../../../internal/read-bounded.ts';
import { detectFromOracle, probeBody } from '../../diagnostics/detection/detect-from-oracle.ts';
import { defineCommand } from '../terminal/command.ts';
import { type CliContext, CliError, exitCodes } from '../terminal/context.ts';
import { describeDetection } from '../terminal/describe-detection.ts';
import { formatFlags, webAddress } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';

const timeoutMs = 30_000;
/** A signature, or a small signed body. */
const maxReplyBytes = 65_536;

const flags = {
  oracle: webAddress.optional('url', 'Let this signing endpoint sign it, and search at once'),
  ...formatFlags,
};

export default defineCommand({
  brief: 'Print a body whose signature tells all schemes apart',
  about:
    'Prints a small body. Let the service sign it, and give the result to "detect". With --oracle it posts the body and a throw-away secret to a signing endpoint of the service, which replies with the signature (reported).',
  examples: [
    'partner-exchange probe > probe.json',
    'partner-exchange probe --oracle https://onboarding.example/api/v1/no-auth/PartnerP2P/SignRequestSha512/',
  ],
  json: '{ body }; with --oracle what detectScheme returns',
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    const { oracle } = flags;
    if (oracle === undefined) {
      output.exact(probeBody(), { body: probeBody() });
      return exitCodes.ok;
    }
    let failure: unknown;
    const detection = await detectFromOracle(
      async (request) => {
        try {
          return await ask(context, oracle, request);
        } catch (error) {
          failure = error;
          throw error;
        }
      },
      { random: context.random },
    );
    if (failure !== undefined) throw failure;
    output.result(detection, (paint) => describeDetection(detection, { sources: ['the probe'], paint }));
    return detection.verdict === 'found' ? exitCodes.ok : exitCodes.findings;
  },
});

async function ask(
  { fetch, signal }: CliContext,
  url: URL,
  { body, secret }: { readonly body: string; readonly secret: string },
): Promise<string> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `${body.slice(0, -1)},"secret":${JSON.stringify(secret)}}`,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
  } catch (cause) {
    const message = `${url.host} did not answer: check the address and the network.`;
    throw new CliError(message, { cause, exitCode: exitCodes.findings });
  }
  const text = await readBoundedText(response.body, maxReplyBytes);
  if (!response.ok || text === undefined) {
    const answer = text === undefined ? 'more than 64 KiB' : `status ${response.status}`;
    throw new CliError(`${url.host} answered ${answer}, no signature: is it the signing endpoint?`, {
      exitCode: exitCodes.findings,
    });
  }
  return text;
}
