import { printableText } from '../../../internal/printable-text.ts';
import { answerItem, describeReceiverAnswer, isSuccess, postEach } from '../deliveries/post-delivery.ts';
import { eachDelivery, expandPaths } from '../deliveries/saved-deliveries.ts';
import { defineCommand } from '../terminal/command.ts';
import { exitCodes } from '../terminal/context.ts';
import { describeFailure } from '../terminal/failure-line.ts';
import { arg, formatFlags, manyArgs, postFlags } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';

export default defineCommand({
  brief: 'Post saved deliveries again, as they were',
  about:
    'Posts the exact bytes and headers of saved deliveries, or bare bodies as application/json, one after the other. With an address without a path each goes to the path that it came to. A file that cannot be sent is named, and the rest is sent. Exits with 1 if one is not answered with 2xx.',
  examples: [
    'partner-exchange replay ./events --to http://127.0.0.1:3000/orders',
    'partner-exchange replay event.json --to http://127.0.0.1:3000/orders --format json',
  ],
  json: 'A line for each: { source, status?, problem?, durationMs? }',
  flags: { ...postFlags, ...formatFlags },
  args: manyArgs(arg('file', 'Saved deliveries, bare bodies, or folders of them'), { minimum: 1 }),
  async run(context, flags, ...paths) {
    const output = openOutput(context, flags);
    let [total, failed] = [0, 0];
    const files = await expandPaths(context, paths);
    const deliveries = eachDelivery(context, files, ({ source, error }) => {
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
      onAnswer({ source }, answer) {
        total++;
        if (!isSuccess(answer)) failed++;
        output.item(
          { source, ...answerItem(answer) },
          (paint) => `${describeReceiverAnswer(answer, paint)} ${printableText(source)}`,
        );
      },
    });
    output.status(`${total - failed} of ${total} answered with 2xx.`);
    return failed === 0 ? exitCodes.ok : exitCodes.findings;
  },
});
