import type { Answer, NoAnswer } from '../deliveries/post-delivery.ts';
import type { Paint } from './paint.ts';

/** What a receiver answered, in a few words. */
export function describeAnswer(answer: Answer | NoAnswer, paint: Paint): string {
  const duration = `${Math.round(answer.durationMs)} ms`;
  if (answer.status === undefined) return paint('red', `no answer (${answer.problem}, ${duration})`);
  const isFine = isSuccess(answer);
  return `${paint(isFine ? 'green' : 'red', String(answer.status))} (${duration})`;
}

/** Whether the receiver counts the delivery as received (assumption `callback-reply`). */
export function isSuccess({ status }: Pick<Answer, 'status'> | NoAnswer): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
