import type { Answer } from '../answer.ts';
import type { AttackCase } from '../attack-case.ts';
import type { Finding } from '../attack-result.ts';
import { judgeAcceptance } from '../judge.ts';

/** The delivery that has to be accepted, or else nothing that is refused later means anything. */
export const baselineCase: AttackCase = {
  id: 'authentic',
  what: 'an authentic delivery, as plain as can be',
  expected: '2xx',
  async run({ baseline, post }): Promise<Finding> {
    const answer = await post({ body: baseline });
    return judgeAcceptance(answer, adviceFor(answer));
  },
};

function adviceFor(answer: Answer): string {
  const status = answer.kind === 'answered' ? answer.status : 0;
  if (status === 404 || status === 405) return 'Is this the URL to which the receiver takes POST?';
  if (status >= 300 && status < 400) return 'The URL redirects: give the one that it leads to.';
  if (status >= 500) {
    return 'Its code failed: see its log. The order of the event is unknown to it: acknowledge unknown orders.';
  }
  return 'Does the receiver have the same credentials (and merchant), and the same signature scheme? explainMismatch tells what a refused body was signed with. The order of the event is unknown to it: acknowledge unknown orders.';
}
