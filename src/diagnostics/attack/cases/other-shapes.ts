import type { JsonObject, JsonValue } from '../../../internal/json.ts';
import { describePostAnswer, isAccepted } from '../../../internal/post-request.ts';
import { type CheckResult, skipped, worstOf } from '../../check-result.ts';
import { type Attack, type CaseTable, judgeAcceptance } from '../attack-case.ts';
import { cannotTell, effectsOf, noEffects } from '../effects.ts';
import { orderIdOf } from '../probes.ts';

/** An authentic event that differs from the published ones; an absent member is left out. */
interface OtherShape {
  readonly what: string;
  readonly members: { readonly [member: string]: JsonValue | undefined };
}

const account = { account_name: 'probe-of-attack-receiver', account_number: '0000000000' };

/** Published events in forms that the contract leaves open. */
const otherShapes: readonly OtherShape[] = [
  { what: 'a rate as text', members: { exchange_rate: '20' } },
  { what: 'an amount as text', members: { fiat_amount_to_pay: '10.00' } },
  { what: 'no payment_link', members: { payment_link: undefined } },
  { what: 'no transactional_kyc', members: { transactional_kyc: undefined } },
  { what: 'no bank_name', members: { payer_into_account: account } },
  { what: 'accounts in a list', members: { payer_into_account: [account] } },
  { what: 'a status in lower case', members: { fiat_payment_status: 'pending' } },
  { what: 'an unknown status', members: { crypto_payment_status: 'ON_HOLD' } },
  { what: 'a reference as a number', members: { platform_order_ref: 7 } },
  { what: 'further members', members: { new_member: 1, another: { nested: [true, null] } } },
];

/** The first name is unknown; the second is reported for sell orders. */
const otherNames: readonly OtherShape[] = ['event.probe.unfamiliar', 'event.sell.init'].map((event_name) => {
  return { what: event_name, members: { event_name } };
});

const keepIt =
  'Keep what your code cannot read and answer 2xx, or answer 5xx so that the service may repeat it: it is authentic, and may be about money. If it is kept where your count of effects does not look (a dead letter), count that too.';

/** Authentic events in another form than the published one. Each that is answered with 2xx must have an effect. */
export const otherShapeCases = {
  'authentic-unfamiliar': {
    what: 'authentic deliveries of events that the contract does not have',
    expected: '2xx, and handled or kept; or 5xx',
    run: (attack) =>
      judgeShapes(attack, otherNames, {
        verdict: 'weak',
        advice: `${keepIt} If you leave these names out on purpose, skip this case.`,
      }),
  },
  'authentic-other-shape': {
    what: 'authentic deliveries of published events in another shape',
    expected: '2xx, and handled or kept; or 5xx',
    run: (attack) => judgeShapes(attack, otherShapes, { verdict: 'broken', advice: keepIt }),
  },
} satisfies CaseTable;

async function judgeShapes(
  attack: Attack,
  shapes: readonly OtherShape[],
  ifDropped: Pick<CheckResult, 'verdict' | 'advice'>,
): Promise<CheckResult> {
  const refusals: CheckResult[] = [];
  const acknowledged: { readonly what: string; readonly id: string; readonly answered: string }[] = [];
  const honest: CheckResult[] = [];
  for (const { what, members } of shapes) {
    // Sound: writing the event as JSON leaves an absent member out.
    const body = attack.probes.authentic(members as JsonObject);
    const answer = await attack.post({ body });
    const answered = describePostAnswer(answer);
    if (isAccepted(answer)) acknowledged.push({ what, id: orderIdOf(body), answered });
    else if (answer.kind === 'answered' && answer.status >= 500) honest.push({ verdict: 'ok', answered });
    else refusals.push(judgeAcceptance(answer, keepIt));
  }
  if (refusals.length > 0) return worstOf(refusals);
  if (acknowledged.length === 0) return worstOf(honest);
  const unknown = cannotTell(attack);
  if (unknown !== undefined) return unknown;
  const ids = acknowledged.map(({ id }) => id);
  const counts = await effectsOf(attack, ids, { ofEach: true });
  if (counts === undefined) return skipped(noEffects);
  const dropped = acknowledged.filter((_, index) => counts[index] === 0);
  const answers = [...new Set([...acknowledged, ...honest].map(({ answered }) => answered))].join(', ');
  if (dropped.length === 0) return { verdict: 'ok', answered: answers };
  const forms = dropped.map(({ what }) => what).join(', ');
  return { ...ifDropped, answered: `${answers}, and nothing became of: ${forms}`, problem: 'dropped' };
}
