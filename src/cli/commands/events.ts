import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { buildRouteMap } from '@stricli/core';
import { printableText } from '../../internal/printable-text.ts';
import { defineCommand } from '../command.ts';
import { readDeployment } from '../configuration.ts';
import { type CliContext, CliError, exitCodes } from '../context.ts';
import type { Delivery } from '../deliveries.ts';
import { digestArg, formatFlags, postFlags, text, webAddress } from '../flags.ts';
import { verifyDelivery } from '../listen/receive-delivery.ts';
import { type KeptFile, listKept, queueFolder, readKept, settleResent } from '../listen/saved-files.ts';
import { openOutput } from '../output.ts';
import { answerItem, describeAnswer, isSuccess, postEach } from '../post-delivery.ts';

const folderFlag = text.optional(
  'folder',
  'What "listen --save" named (default: where listen keeps events for --to)',
);

interface KeptEvent extends KeptFile, Delivery {
  readonly digest: string;
}

const list = defineCommand({
  brief: 'List the events that listen kept',
  about:
    'Lists the events in a folder of "listen --save", or those that listen keeps for a receiver, the oldest first, without their bodies. Names and ids are those that the event claims: "partner-exchange verify" says whether it is genuine.',
  examples: [
    'partner-exchange events list --folder ./events',
    'partner-exchange events list --to http://127.0.0.1:3000/orders --format json',
  ],
  flags: {
    folder: folderFlag,
    to: webAddress.optional('url', 'The receiver of listen --forward-to'),
    ...formatFlags,
  },
  async run(context, flags) {
    const output = openOutput(context, flags);
    const { signature: scheme, wireNames } = readDeployment(context);
    let count = 0;
    for await (const { digest, state, name: file, receivedAt, body } of keptEvents(context, flags)) {
      count++;
      const { event_name, partner_order_id } = verifyDelivery(body, { ring: undefined, scheme, wireNames });
      output.item({ digest, state, receivedAt, event_name, partner_order_id, file }, (paint) => {
        const claimed = [event_name ?? 'no event_name', partner_order_id].filter(
          (each) => each !== undefined,
        );
        const facts = [receivedAt, ...claimed, state].filter((each) => each !== undefined);
        return [paint('bold', digest.slice(0, 12)), ...facts.map(printableText)].join(' ');
      });
    }
    output.status(`${count} kept.`);
    return exitCodes.ok;
  },
});

const resend = defineCommand({
  brief: 'Post kept events to your receiver again',
  about:
    'Posts the exact bytes and headers of an event that listen kept. One that your receiver refused before, and answers with 2xx now, is no longer marked as refused. Exits with 1 if an event is not answered with 2xx.',
  examples: [
    'partner-exchange events resend 3f9a2c --to http://127.0.0.1:3000/orders',
    'partner-exchange events resend 3f9a2c --folder ./events --to http://127.0.0.1:3000/orders',
  ],
  flags: { folder: folderFlag, ...postFlags, ...formatFlags },
  args: [digestArg('Digest, or its beginning, as "events list" prints it')],
  async run(context, flags, start) {
    const output = openOutput(context, flags);
    const event = await findEvent(keptEvents(context, flags), start);
    let code: 0 | 1 = exitCodes.findings;
    await postEach(context, [event], {
      ...flags,
      async onAnswer(kept, answer) {
        const { digest } = kept;
        if (isSuccess(answer)) {
          code = exitCodes.ok;
          await settleResent(kept, { keepsDone: flags.folder !== undefined });
        }
        output.item(
          { digest, ...answerItem(answer) },
          (paint) => `${describeAnswer(answer, paint)} ${digest.slice(0, 12)}`,
        );
      },
    });
    return code;
  },
});

export default buildRouteMap({
  routes: { list, resend },
  docs: { brief: 'The events that listen kept: list them, post one again' },
});

async function* keptEvents(
  context: CliContext,
  { folder, to }: { folder?: string | undefined; to?: URL | undefined },
): AsyncGenerator<KeptEvent> {
  if (folder === undefined && to === undefined) {
    throw new CliError('Name the folder of "listen --save" with --folder, or your receiver with --to.');
  }
  const path = folder !== undefined ? resolve(context.cwd, folder) : to && queueFolder(context, to);
  for (const kept of await listKept(path ?? '')) {
    const delivery = await readKept(kept);
    // Settled by a running listen in the meantime.
    if (delivery === undefined) continue;
    yield { ...kept, ...delivery, digest: createHash('sha256').update(delivery.body).digest('hex') };
  }
}

/** The newest event whose digest begins so. Two events of one digest have the same bytes. */
async function findEvent(events: AsyncIterable<KeptEvent>, start: string): Promise<KeptEvent> {
  let found: KeptEvent | undefined;
  for await (const event of events) {
    if (!event.digest.startsWith(start)) continue;
    if (found !== undefined && found.digest !== event.digest) {
      throw new CliError(`Several events begin with ${start}: give more of the digest.`);
    }
    found = event;
  }
  if (found !== undefined) return found;
  throw new CliError(`There is no kept event ${start}: see "partner-exchange events list".`, {
    exitCode: exitCodes.findings,
  });
}
