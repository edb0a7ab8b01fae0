import { detectFromOracle } from '../../diagnostics/detection/detect-from-oracle.ts';
import { probeBody } from '../../diagnostics/detection/probe-body.ts';
import { readBounded } from '../../runtime/read-bounded.ts';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';
import { describeDetection } from '../output/describe-detection.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface ProbeFlags extends CommonFlags, FormatFlags {
  readonly oracle?: URL | undefined;
}

const timeoutMs = 30_000;
/** A signature, or a small signed body. */
const maxReplyBytes = 65_536;

/** Prints the probe, or has an oracle sign it. */
export const probe: RunCommand<ProbeFlags> = async (context, flags) => {
  const output = openOutput(context, flags);
  const { oracle } = flags;
  if (oracle === undefined) {
    if (output.format === 'json') output.result({ body: probeBody() }, () => []);
    else output.raw(context.stdout.isTTY ? `${probeBody()}\n` : probeBody());
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
};

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
  const reader = response.body?.getReader();
  const bytes = reader === undefined ? new Uint8Array() : await readBounded(reader, maxReplyBytes);
  if (!response.ok || bytes === undefined) {
    await reader?.cancel();
    const answer = bytes === undefined ? 'more than 64 KiB' : `status ${response.status}`;
    throw new CliError(`${url.host} answered ${answer}, no signature: is it the signing endpoint?`, {
      exitCode: exitCodes.findings,
    });
  }
  return new TextDecoder().decode(bytes);
}
