import { resolve } from 'node:path';
import { verificationKeysOf } from '../../../../credentials/verification-keys.ts';
import { createPoster } from '../../deliveries/post-delivery.ts';
import type { SavedRequest } from '../../deliveries/saved-deliveries.ts';
import { readConfiguration } from '../../inputs/configuration.ts';
import { defineCommand } from '../../terminal/command.ts';
import { exitCodes, onceAborted } from '../../terminal/context.ts';
import { describeFailure } from '../../terminal/failure-line.ts';
import {
  formatFlags,
  hostFlags,
  keysFlag,
  port,
  textFlag,
  webAddress,
  wholeNumber,
} from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';
import { openDeliveryFolder } from './delivery-folder.ts';
import {
  describeReceived,
  receiveDelivery,
  receivedItem,
  unavailable,
  verifyDelivery,
} from './handle-request.ts';
import { startReceiveServer } from './receive-server.ts';

const flags = {
  port: port.withDefault('number', 'Where to listen; 0 is any free port', '4100'),
  ...hostFlags,
  forwardTo: webAddress.optional('url', 'Your receiver'),
  save: textFlag.optional('folder', 'Keep every event here, each as a file; they hold personal data'),
  timeoutMs: wholeNumber(1, 600_000).withDefault('ms', 'How long your receiver may take', '10000'),
  keys: keysFlag,
  ...formatFlags,
};

export default defineCommand({
  brief: 'Receive events, verify them, and pass them on',
  about:
    'Receives events at any path and prints a line for each. With --forward-to it is a mirror: it posts the exact bytes and headers to your receiver, and the sender gets its answer; if there is none, the sender gets 503 with Retry-After, and sends the event again. An address without a path keeps the path of each event, one with a path replaces it; the query is kept. With --save every event is kept as a file, before it is forwarded, for replay, verify and learn. Without keys it verifies no event.',
  examples: [
    'partner-exchange listen --forward-to http://127.0.0.1:3000/orders',
    'partner-exchange listen --port 4100 --save ./events --format json',
    'partner-exchange listen --allow-host my-tunnel.example --save ./events',
  ],
  json: "A line for each: { at, target, bytes, signature: 'verified' | 'refused' | 'unchecked', code?, merchant?, kind?, event_name?, partner_order_id?, platform_order_ref?, fiat_payment_status?, crypto_payment_status?, file?, forwarded?: { status?, problem?, durationMs }, answered }; problem says why your receiver did not answer",
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    const { deployment, credentials } = await readConfiguration(context, flags);
    const { signature: scheme, wireNames, eventStatuses } = deployment;
    const ring = credentials.length === 0 ? undefined : verificationKeysOf(credentials, scheme);
    const { now, random, cwd, signal } = context;
    const folder =
      flags.save === undefined ? undefined : openDeliveryFolder(resolve(cwd, flags.save), { now, random });
    const poster = createPoster(now);
    const post = flags.forwardTo && postTo(flags.forwardTo);
    const verify = (body: Uint8Array) => verifyDelivery(body, { ring, scheme, wireNames, eventStatuses });

    const server = await startReceiveServer({
      ...flags,
      allowedHosts: flags.allowHost ?? [],
      now,
      async receive(delivery) {
        try {
          const received = await receiveDelivery(delivery, { verify, folder, post });
          output.item(receivedItem(received), (paint) => describeReceived(received, paint));
          return received.answer;
        } catch (error) {
          const { message } = describeFailure(error);
          output.warn(`An event was answered with 503, since it cannot be kept: ${message}`);
          return unavailable('not_kept', 'This event could not be kept: send it again later.');
        }
      },
    });
    try {
      const stopped = onceAborted(signal);
      // A disk that hangs must not hold back a signal.
      await Promise.race([announce(server.url), stopped]);
      await stopped;
    } finally {
      const closed = new AbortController();
      const answered = server.close('when answered').then(() => closed.abort());
      // A sender may hold its request back.
      await Promise.race([answered, context.sleep(longestStopMs, closed.signal)]);
      await server.close('at once');
      poster.close();
    }
    return exitCodes.stopped;

    function postTo(url: URL) {
      // It gets no signal: a delivery under way still gets its answer when the command stops.
      return (delivery: SavedRequest) => poster.post(delivery, { url, timeoutMs: flags.timeoutMs });
    }

    async function announce(url: string): Promise<void> {
      if (ring === undefined)
        output.warn('There are no keys: nothing is verified. Set them, or name a file with --keys.');
      await folder?.check().catch((error: unknown) => {
        const { message } = describeFailure(error);
        output.warn(`Nothing can be kept in ${folder.path}, so every event is answered with 503: ${message}`);
      });
      output.status(
        (paint) => `Listening at ${paint('bold', url)}: give it as partner_callback_url. Ctrl-C ends it.`,
      );
    }
  },
});

/** How long a stopped command waits for answers under way. */
const longestStopMs = 10_000;
