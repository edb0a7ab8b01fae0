import { createHash } from 'node:crypto';
import { printableText } from '../../../internal/printable-text.ts';
import { answerItem, describeReceiverAnswer, isSuccess, postEach } from '../deliveries/post-delivery.ts';
import { eachDelivery, expandPaths, type NamedDelivery } from '../deliveries/saved-deliveries.ts';
import { readDeployment } from '../inputs/configuration.ts';
import { digestFlag, findByDigest } from '../inputs/digests.ts';
import { defineCommand } from '../terminal/command.ts';
import { CliError, exitCodes } from '../terminal/context.ts';
import { describeFailure } from '../terminal/failure-line.ts';
import { arg, formatFlags, manyArgs, postFlags, toggle, webAddress } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';
import { verifyDelivery } from './listen/handle-request.ts';

export default defineCommand({
  brief: 'Post saved deliveries again, as they were',
  about:
    'Posts the exact bytes and headers of saved deliveries, of the events in traffic that the inspector gave as JSON, or of bare bodies as application/json, one after the other. With an address without a path each goes to the path that it came to. A copy that lacks something, such as a header with a key in it, says so. A file that cannot be sent is named, and the rest is sent. Exits with 1 if one is not answered with 2xx. With --list it posts nothing, and prints the digest of each, with the names that the event claims: "partner-exchange verify" says whether it is genuine.',
  examples: [
    'partner-exchange replay ./events --to http://127.0.0.1:3000/orders',
    'partner-exchange replay ./events --list',
    'partner-exchange replay ./events --only 3f9a2c --to http://127.0.0.1:3000/orders',
    'partner-exchange replay event.json --to http://127.0.0.1:3000/orders --format json',
    'partner-exchange replay traffic.json --to http://127.0.0.1:3000/orders',
  ],
  json: 'A line for each: { source, status?, problem?, durationMs?, lacks? }; with --list { digest, source, receivedAt?, event_name?, partner_order_id? }',
  flags: {
    ...postFlags,
    to: webAddress.optional('url', 'Where your receiver listens'),
    list: toggle('List the deliveries, and post nothing'),
    only: digestFlag.optional(
      'digest',
      'One delivery alone: its digest as --list prints it, or its beginning',
    ),
    ...formatFlags,
  },
  args: manyArgs(arg('file', 'Saved deliveries, traffic of the inspector, bare bodies, or folders of them'), {
    minimum: 1,
  }),
  async run(context, { to, list, only, ...flags }, ...paths) {
    if (to === undefined && !list) throw new CliError('Give --to, the address of your receiver, or --list.');
    const output = openOutput(context, flags);
    let [total, failed] = [0, 0];
    const all = eachDelivery(context, await expandPaths(context, paths), ({ source, error }) => {
      total++;
      failed++;
      const { message: problem } = describeFailure(error);
      output.item(
        { source, problem },
        (paint) => `${paint('red', list ? 'not read' : 'not sent')} ${printableText(source)}: ${problem}`,
      );
    });
    const deliveries = only === undefined ? all : [await findDelivery(all, only)];
    if (to === undefined || list) {
      const { signature: scheme, wireNames } = readDeployment(context);
      for await (const { source, receivedAt, body } of deliveries) {
        total++;
        const digest = digestOf(body);
        const { event_name, partner_order_id } = verifyDelivery(body, { ring: undefined, scheme, wireNames });
        output.item({ digest, source, receivedAt, event_name, partner_order_id }, (paint) => {
          const facts = [receivedAt, event_name ?? 'no event_name', partner_order_id, source];
          const texts = facts.filter((fact) => fact !== undefined).map(printableText);
          return [paint('bold', digest.slice(0, 12)), ...texts].join(' ');
        });
      }
      output.status(`${total - failed} listed.`);
      return failed === 0 ? exitCodes.ok : exitCodes.findings;
    }
    await postEach(context, deliveries, {
      ...flags,
      to,
      onAnswer({ source, lacks = [] }, answer) {
        total++;
        if (!isSuccess(answer)) failed++;
        const isWhole = lacks.length === 0;
        output.item({ source, ...answerItem(answer), ...(!isWhole && { lacks }) }, (paint) => {
          const missing = isWhole
            ? ''
            : paint('yellow', ` (sent without ${printableText(lacks.join(', '))})`);
          return `${describeReceiverAnswer(answer, paint)} ${printableText(source)}${missing}`;
        });
      },
    });
    output.status(`${total - failed} of ${total} answered with 2xx.`);
    return failed === 0 ? exitCodes.ok : exitCodes.findings;
  },
});

/** The last delivery whose digest begins with these digits: several of one digest have the same bytes. */
async function findDelivery(deliveries: AsyncIterable<NamedDelivery>, start: string): Promise<NamedDelivery> {
  const matches: (NamedDelivery & { digest: string })[] = [];
  for await (const delivery of deliveries) {
    const digest = digestOf(delivery.body);
    if (digest.startsWith(start)) matches.push({ ...delivery, digest });
  }
  const found = findByDigest(matches, start, 'deliveries');
  if (found !== undefined) return found;
  throw new CliError(
    `The digest of no delivery begins with ${start}: see "partner-exchange replay --list".`,
    {
      exitCode: exitCodes.findings,
    },
  );
}

function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}
