import { printableText } from '../../internal/printable-text.ts';
import { defineCommand } from '../command.ts';
import { exitCodes } from '../context.ts';
import { readDeliveries } from '../deliveries.ts';
import { arg, formatFlags, manyArgs, postFlags } from '../flags.ts';
import { openOutput } from '../output.ts';
import { answerItem, describeAnswer, isSuccess, postEach } from '../post-delivery.ts';

const flags = { ...postFlags, ...formatFlags };

export default defineCommand({
  brief: 'Post saved deliveries again, as they were',
  about:
    'Posts the exact bytes and headers of saved deliveries, of the events in a session that the inspector exported, or of bare bodies as application/json, one after the other. A session holds no keys, so its redacted headers are not sent. Exits with 1 if one is not answered with 2xx.',
  examples: [
    'partner-exchange replay ./events --to http://127.0.0.1:3000/orders',
    'partner-exchange replay event.json --to http://127.0.0.1:3000/orders --format json',
    'partner-exchange replay session.json --to http://127.0.0.1:3000/orders',
  ],
  flags,
  args: manyArgs(arg('file', 'Saved deliveries, exported sessions, bare bodies, or folders of them'), {
    minimum: 1,
  }),
  async run(context, flags, ...paths) {
    const output = openOutput(context, flags);
    const deliveries = await readDeliveries(context, paths);
    const redacted = new Set(deliveries.flatMap((each) => each.redacted ?? []));
    if (redacted.size > 0)
      output.status(`Not sent, since the session does not hold their values: ${[...redacted].join(', ')}.`);
    let failed = 0;
    await postEach(context, deliveries, {
      ...flags,
      onAnswer({ source }, answer) {
        if (!isSuccess(answer)) failed++;
        output.item(
          { source, ...answerItem(answer) },
          (paint) => `${describeAnswer(answer, paint)} ${printableText(source)}`,
        );
      },
    });
    output.status(`${deliveries.length - failed} of ${deliveries.length} answered with 2xx.`);
    return failed === 0 ? exitCodes.ok : exitCodes.findings;
  },
});
