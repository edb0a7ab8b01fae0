import { printableText } from '../../redaction/printable-text.ts';
import { exitCodes } from '../context/exit-code.ts';
import { createPoster } from '../deliveries/post-delivery.ts';
import { readDeliveries } from '../deliveries/read-deliveries.ts';
import { describeAnswer, isSuccess } from '../output/describe-answer.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';
import type { PostFlags } from '../routes/delivery-flags.ts';

export interface ReplayFlags extends CommonFlags, FormatFlags, PostFlags {}

/** Posts saved deliveries again. */
export const replay: RunCommand<ReplayFlags, string[]> = async (context, flags, ...paths) => {
  const output = openOutput(context, flags);
  const { to: url, timeoutMs } = flags;
  const { signal } = context;
  const deliveries = await readDeliveries(context, paths);
  const poster = createPoster(context.now);
  let failed = 0;
  try {
    for (const { source, headers, body } of deliveries) {
      if (signal.aborted) break;
      const bare = headers.length === 0 ? ([['content-type', 'application/json']] as const) : headers;
      const answer = await poster.post({ headers: bare, body }, { url, timeoutMs, signal });
      if (!isSuccess(answer)) failed++;
      const { status, durationMs } = answer;
      const problem = 'problem' in answer ? answer.problem : undefined;
      output.item(
        { source, status, problem, durationMs },
        (paint) => `${describeAnswer(answer, paint)} ${printableText(source)}`,
      );
    }
  } finally {
    poster.close();
  }
  output.say(`${deliveries.length - failed} of ${deliveries.length} answered with 2xx.`);
  return failed === 0 ? exitCodes.ok : exitCodes.findings;
};
