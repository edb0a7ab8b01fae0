import { resolve } from 'node:path';
import { verificationKeysOf } from '../../credentials/verification-keys.ts';
import { explainMismatch } from '../../diagnostics/mismatch/explain-mismatch.ts';
import { keysOf } from '../../sandbox/control/session.ts';
import { defineCommand } from '../command.ts';
import { readConfiguration } from '../configuration.ts';
import { type CliContext, exitCodes, onceAborted } from '../context.ts';
import type { Delivery } from '../deliveries.ts';
import { describeFailure } from '../failure.ts';
import {
  type FlagsOf,
  formatFlags,
  hostFlags,
  port,
  signingFlags,
  text,
  webAddress,
  wholeNumber,
} from '../flags.ts';
import { filterFlag, passes } from '../listen/delivery-filter.ts';
import { type DeliveryFolder, openDeliveryFolder } from '../listen/delivery-folder.ts';
import { createForwarder, type Forwarder, type ForwarderOptions } from '../listen/forwarder.ts';
import { startInspector } from '../listen/inspector.ts';
import {
  describeLate,
  describeReceived,
  receiveDelivery,
  receivedItem,
  refusal,
  type Verdict,
  verifyDelivery,
} from '../listen/receive-delivery.ts';
import { startReceiveServer } from '../listen/receive-server.ts';
import { createReceivedTrace } from '../listen/received-trace.ts';
import { queueFolder } from '../listen/saved-files.ts';
import { type Output, openOutput } from '../output.ts';
import { createPoster } from '../post-delivery.ts';

const flags = {
  port: port.withDefault('number', 'Where to listen; 0 is any free port', '4100'),
  ...hostFlags,
  forwardTo: webAddress.optional('url', 'Your receiver'),
  filter: filterFlag,
  save: text.optional('folder', 'Keep every event here; it holds personal data'),
  maxSavedBytes: wholeNumber(4096, Number.MAX_SAFE_INTEGER).withDefault(
    'bytes',
    'How much of the disk kept and waiting events may take',
    '104857600',
  ),
  maxBodyBytes: wholeNumber(1, 64 * 1024 * 1024).withDefault('bytes', 'Longest body', '65536'),
  timeoutMs: wholeNumber(1, 600_000).withDefault('ms', 'How long your receiver may take', '10000'),
  inspectorPort: port.withDefault(
    'number',
    'Where the page of what was received is, on this machine alone; 0 is any free port',
    '0',
  ),
  ...signingFlags,
  ...formatFlags,
};
type Flags = FlagsOf<typeof flags>;

export default defineCommand({
  brief: 'Receive events, verify them, and pass them on',
  about:
    'Receives events at any path and prints a line for each. With --forward-to it posts the exact bytes and headers to your receiver, and the sender gets its answer; while your receiver is down, authentic events are kept on the disk and forwarded later. With --save every event is kept as a file for replay, verify, detect and pin. With --filter only some events are shown and forwarded; the others are answered, and kept with --save. Without keys it verifies no event. The inspector, a page on this machine alone, shows the events, the answers and why a signature does not match, and replays events.',
  examples: [
    'partner-exchange listen --forward-to http://127.0.0.1:3000/orders',
    'partner-exchange listen --port 4100 --save ./events --format json',
    'partner-exchange listen --forward-to http://127.0.0.1:3000/orders --filter event=event.buy.credited.* --filter order=A-*',
    'partner-exchange listen --allow-host my-tunnel.example --save ./events',
  ],
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    const { deployment, credentials } = await readConfiguration(context, flags);
    const { signature: scheme, wireNames } = deployment;
    const ring = credentials.length === 0 ? undefined : verificationKeysOf(credentials, scheme);
    const folder = await openFolder(context, output, flags);
    const poster = createPoster(context.now);
    const post = flags.forwardTo && postTo(flags.forwardTo);
    const forwarder = folder && post && forward(folder, post);
    const isWanted = (verdict: Verdict) => passes(verdict, flags.filter ?? []);
    let leftOut = 0;
    const verify = (body: Uint8Array) => verifyDelivery(body, { ring, scheme, wireNames });
    const trace = createReceivedTrace(context.now, { ...flags, verify });

    const server = await startReceiveServer({
      ...flags,
      allowedHosts: flags.allowHost ?? [],
      now: context.now,
      async receive(delivery) {
        try {
          const received = await receiveDelivery(delivery, { verify, folder, forwarder, isWanted });
          trace.add(received);
          if (received.wanted)
            output.item(receivedItem(received), (paint) => describeReceived(received, paint));
          else leftOut++;
          return received.answer;
        } catch (error) {
          // It was not saved, so the sender has to send it again.
          output.warn(`An event was refused with 503: ${describeFailure(error).message}`);
          return refusal(503, 'not_saved', [['retry-after', '10']]);
        }
      },
    });
    let inspector: Awaited<ReturnType<typeof startInspector>> | undefined;
    try {
      inspector = await startInspector({
        port: flags.inspectorPort,
        token: Buffer.from(context.random(24)).toString('base64url'),
        explain: (body) => explainMismatch(body, { credentials, scheme, purpose: 'order' }),
        secrets: [...credentials.flatMap(keysOf), ...(ring ?? []).map(({ text }) => text)],
        ...{ trace, scheme, ring, post, verify },
      });
      await announce(server.url, inspector.url);
      await onceAborted(context.signal);
    } finally {
      await server.close('when answered');
      await inspector?.close();
      await forwarder?.stopped();
      poster.close();
    }
    if (folder && forwarder && forwarder.waiting > 0) {
      output.status(
        `${forwarder.waiting} wait in ${folder.path}: the next listen with this --forward-to passes them on.`,
      );
    }
    if (leftOut > 0) output.status(`${leftOut} did not match --filter: answered, and not forwarded.`);
    return exitCodes.stopped;

    function postTo(url: URL) {
      // Without the signal, so that a delivery under way still gets its answer when the command stops.
      return (delivery: Delivery) => poster.post(delivery, { url, timeoutMs: flags.timeoutMs });
    }

    function forward(folder: DeliveryFolder, post: ForwarderOptions['post']): Forwarder {
      return createForwarder({
        folder,
        post,
        onLate(late) {
          trace.addLate(late);
          const { file, answer, state } = late;
          const { status, durationMs } = answer;
          const item = { late: true, file, state, forwarded: { kind: 'answered', status, durationMs } };
          output.item(item, (paint) => describeLate(file, answer, paint));
        },
        onProblem: (file, error) =>
          output.warn(`${file} cannot be forwarded: ${describeFailure(error).message}`),
        sleep: context.sleep,
        signal: context.signal,
      });
    }

    async function announce(url: string, inspectorUrl: string): Promise<void> {
      if (ring === undefined)
        output.warn('There are no keys: nothing is verified. Set them, or name a file with --keys.');
      const waiting = (await forwarder?.resume()) ?? 0;
      if (waiting > 0) output.status(`${waiting} of an earlier run wait to be forwarded.`);
      output.status(
        (paint) => `Listening at ${paint('bold', url)}: give it as partner_callback_url. Ctrl-C ends it.`,
      );
      output.status(`The inspector is at ${inspectorUrl}`);
    }
  },
});

async function openFolder(
  context: CliContext,
  output: Output,
  { save, forwardTo, maxSavedBytes: maxBytes }: Flags,
): Promise<DeliveryFolder | undefined> {
  const { now, random, cwd } = context;
  const onFull = () =>
    output.warn(
      'The folder is full: unsigned events are not saved, and the newest of them make room for others. Remove events, or raise --max-saved-bytes.',
    );
  const options = { keepsDone: save !== undefined, maxBytes, onFull, now, random };
  if (save !== undefined) return openDeliveryFolder(resolve(cwd, save), options);
  return forwardTo && openDeliveryFolder(queueFolder(context, forwardTo), options);
}
