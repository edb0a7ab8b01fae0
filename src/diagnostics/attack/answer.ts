/** What came back for one request. */
export type Answer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Headers;
      /** Its first {@link maxAnswerBytes}; empty if it could not be read. */
      readonly text: string;
    }
  /** The connection was refused or closed without an answer. */
  | { readonly kind: 'closed'; readonly reason: string }
  /** Neither an answer nor a closed connection in this time. */
  | { readonly kind: 'late'; readonly afterMs: number };

/** More of an answer is not looked at. */
export const maxAnswerBytes = 262_144;

/** One line on an answer, without any of its text. */
export function describeAnswer(answer: Answer): string {
  switch (answer.kind) {
    case 'answered':
      return String(answer.status);
    case 'closed':
      return `connection closed without an answer (${answer.reason})`;
    case 'late':
      return `no answer within ${answer.afterMs} ms`;
  }
}

/** Whether the sender will take the delivery for received (ledger: `callback-reply`). */
export function isAccepted(answer: Answer): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
}
