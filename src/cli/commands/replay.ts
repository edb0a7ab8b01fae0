import { printableText } from '../../internal/printable-text.ts';
import { answerItem, describeReceiverAnswer, isSuccess, postEach } from '../deliveries/post-delivery.ts';
import { eachDelivery } from '../deliveries/saved-deliveries.ts';
import { defineCommand } from '../terminal/command.ts';
import { exitCodes } from '../terminal/context.ts';
import { describeFailure } from '../terminal/failure-line.ts';
import { arg, formatFlags, manyArgs, postFlags } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';

const flags = { ...postFlags, ...formatFlags };

export default defineCommand({
  brief: 'Post saved deliveries again, as they were',
  about:
    'Posts the exact bytes and headers of saved deliveries, of the events in traffic that the inspector gave as JSON, or of bare bodies as application/json, one after the other. With an address without a path each goes to the path that it came to. A copy that lacks something, such as a header with a key in it, says so. A file that cannot be sent is named, and the rest is sent. Exits with 1 if one is not answered with 2xx.',
  examples: [
    'partner-exchange replay ./events --to http://127.0.0.1:3000/orders',
    'partner-exchange replay event.json --to http://127.0.0.1:3000/orders --format json',
    'partner-exchange replay traffic.json --to http://127.0.0.1:3000/orders',
  ],
  flags,
  args: manyArgs(arg('file', 'Saved deliveries, traffic of the inspector, bare bodies, or folders of them'), {
    minimum: 1,
  }),
  async run(context, flags, ...paths) {
    const output = openOutput(context, flags);
    let [total, failed] = [0, 0];
    const deliveries = eachDelivery(context, paths, ({ source, error }) => {
      total++;
      failed++;
      const { message: problem } = describeFailure(error);
      output.item(
        { source, problem },
        (paint) => `${paint('red', 'not sent')} ${printableText(source)}: ${problem}`,
      );
    });
    await postEach(context, deliveries, {
      ...flags,
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
