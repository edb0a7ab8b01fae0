import { resolve } from 'node:path';
import { verificationKeysOf } from '../../credentials/verification-keys.ts';
import { explainMismatch } from '../../diagnostics/mismatch/explain-mismatch.ts';
import type { CliContext } from '../context/cli-context.ts';
import { exitCodes } from '../context/exit-code.ts';
import { onceAborted } from '../context/once-aborted.ts';
import type { Delivery } from '../deliveries/delivery-file.ts';
import { createPoster } from '../deliveries/post-delivery.ts';
import { readConfiguration } from '../input/read-keys.ts';
import { type DeliveryFolder, openDeliveryFolder } from '../listen/delivery-folder.ts';
import { describeLate, describeReceived, receivedItem } from '../listen/describe-received.ts';
import { createForwarder, type Forwarder, type ForwarderOptions } from '../listen/forwarder.ts';
import { judgeDelivery } from '../listen/judge-delivery.ts';
import { queueFolder } from '../listen/queue-folder.ts';
import { receiveDelivery } from '../listen/receive-delivery.ts';
import { refusal, startReceiveServer } from '../listen/receive-server.ts';
import { createReceivedTrace } from '../listen/received-trace.ts';
import { type Inspector, startInspector } from '../listen/start-inspector.ts';
import { describeFailure } from '../output/describe-failure.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags, SigningFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface ListenFlags extends CommonFlags, FormatFlags, SigningFlags {
  readonly port: number;
  readonly host: string;
  readonly allowHost?: readonly string[] | undefined;
  readonly forwardTo?: URL | undefined;
  readonly save?: string | undefined;
  readonly maxBodyBytes: number;
  readonly timeoutMs: number;
  readonly inspectorPort: number;
}

/** Receives events until it is stopped. */
export const listen: RunCommand<ListenFlags> = async (context, flags) => {
  const output = openOutput(context, flags);
  const { deployment, credentials } = await readConfiguration(context, flags);
  const { signature: scheme, wireNames } = deployment;
  const ring = credentials.length === 0 ? undefined : verificationKeysOf(credentials, scheme);
  const folder = await openFolder(context, flags);
  const poster = createPoster(context.now);
  const trace = createReceivedTrace(context.now, flags);
  const post = flags.forwardTo && postTo(flags.forwardTo);
  const forwarder = folder && post && forward(folder, post);
  const judge = (body: Uint8Array) => judgeDelivery(body, { ring, scheme, wireNames });

  const server = await startReceiveServer({
    ...flags,
    allowedHosts: flags.allowHost ?? [],
    now: context.now,
    async receive(delivery) {
      try {
        const received = await receiveDelivery(delivery, { judge, folder, forwarder });
        trace.add(received);
        output.item(receivedItem(received), (paint) => describeReceived(received, paint));
        return received.answer;
      } catch (error) {
        // It could not be saved: the sender must not believe that it was.
        output.warn(`An event was refused with 503: ${describeFailure(error).message}`);
        return refusal(503, 'not_saved', [['retry-after', '10']]);
      }
    },
  });
  let inspector: Inspector | undefined;
  try {
    inspector = await startInspector({
      port: flags.inspectorPort,
      token: Buffer.from(context.random(24)).toString('base64url'),
      explain: (body) => explainMismatch(body, { credentials, scheme, purpose: 'order' }),
      ...{ trace, scheme, ring, post },
    });
    await announce(server.url, inspector.url);
    await onceAborted(context.signal);
  } finally {
    await server.close();
    await inspector?.close();
    await forwarder?.stopped();
    poster.close();
  }
  if (folder && forwarder && forwarder.waiting > 0) {
    output.say(
      `${forwarder.waiting} wait in ${folder.path}: the next listen with this --forward-to passes them on.`,
    );
  }
  return exitCodes.stopped;

  function postTo(url: URL) {
    // Not with the signal: what is under way when the command is stopped still gets its answer.
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
    if (waiting > 0) output.say(`${waiting} of an earlier run wait to be forwarded.`);
    output.say(
      (paint) => `Listening at ${paint('bold', url)}: give it as partner_callback_url. Ctrl-C ends it.`,
    );
    output.say(`The inspector is at ${inspectorUrl}`);
  }
};

async function openFolder(
  context: CliContext,
  { save, forwardTo }: ListenFlags,
): Promise<DeliveryFolder | undefined> {
  const { now, random, cwd } = context;
  if (save !== undefined) return openDeliveryFolder(resolve(cwd, save), { keepsDone: true, now, random });
  if (forwardTo === undefined) return undefined;
  return openDeliveryFolder(queueFolder(context, forwardTo), { keepsDone: false, now, random });
}
