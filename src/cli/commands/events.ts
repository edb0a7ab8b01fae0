import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { buildRouteMap } from '@stricli/core';
import { printableText } from '../../internal/printable-text.ts';
import { answerItem, describeReceiverAnswer, isSuccess, postEach } from '../deliveries/post-delivery.ts';
import type { SavedRequest } from '../deliveries/saved-deliveries.ts';
import { type KeptFile, listKept, readKept } from '../deliveries/saved-files.ts';
import { readDeployment } from '../inputs/configuration.ts';
import { defineCommand } from '../terminal/command.ts';
import { type CliContext, CliError, exitCodes } from '../terminal/context.ts';
import { digestArg, formatFlags, postFlags, textFlag } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';
import { verifyDelivery } from './listen/handle-request.ts';

const folderFlag = textFlag.required('folder', 'What "listen --save" named');

interface KeptEvent extends KeptFile, SavedRequest {
  readonly digest: string;
}

const list = defineCommand({
  brief: 'List the events that listen kept',
  about:
    'Lists the events in a folder of "listen --save", the oldest first, without their bodies. Names and ids are those that the event claims: "partner-exchange verify" says whether it is genuine.',
  examples: [
    'partner-exchange events list --folder ./events',
    'partner-exchange events list --folder ./events --format json',
  ],
  flags: { folder: folderFlag, ...formatFlags },
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
    'Posts the exact bytes and headers of an event that listen kept. Exits with 1 if an event is not answered with 2xx.',
  examples: ['partner-exchange events resend 3f9a2c --folder ./events --to http://127.0.0.1:3000/orders'],
  flags: { folder: folderFlag, ...postFlags, ...formatFlags },
  args: [digestArg('Digest, or its beginning, as "events list" prints it')],
  async run(context, flags, start) {
    const output = openOutput(context, flags);
    const event = await findEvent(keptEvents(context, flags), start);
    let code: 0 | 1 = exitCodes.findings;
    await postEach(context, [event], {
      ...flags,
      onAnswer({ digest }, answer) {
        if (isSuccess(answer)) code = exitCodes.ok;
        output.item(
          { digest, ...answerItem(answer) },
          (paint) => `${describeReceiverAnswer(answer, paint)} ${digest.slice(0, 12)}`,
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
  { cwd }: CliContext,
  { folder }: { readonly folder: string },
): AsyncGenerator<KeptEvent> {
  for (const kept of await listKept(resolve(cwd, folder))) {
    const delivery = await readKept(kept);
    // A running listen may have made room in the meantime.
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
