import type { JsonValue } from '../../../../internal/json.ts';
import { isAccepted } from '../../post-request.ts';
import type { Attack, CaseTable } from '../attack-case.ts';
import { type CaseResult, worstOf } from '../case-result.ts';
import { oneOfEach } from '../effect-records.ts';
import { judgeHonesty } from '../judge.ts';
import { objectOf, orderIdOf } from '../probes.ts';

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
  { what: 'another chain and pair', members: { chain: 'usdt-pol', pair: 'KES/USDC', fiat_currency: 'KES' } },
  { what: 'a payment link', members: { payment_link: 'https://pay.example/link' } },
  { what: 'a reference as a number', members: { platform_order_ref: 7 } },
  {
    what: 'a status in lower case',
    members: { event_name: 'event.buy.received.fiat', fiat_payment_status: 'paid' },
  },
  {
    what: 'an unknown status',
    members: { event_name: 'event.buy.received.fiat', crypto_payment_status: 'ON_HOLD' },
  },
  {
    what: 'a close with other statuses',
    members: {
      event_name: 'buy.event.close',
      fiat_payment_status: 'REFUNDED',
      crypto_payment_status: 'CANCELLED',
    },
  },
  { what: 'further members', members: { new_member: 1, another: { nested: [true, null] } } },
];

/** The first name is unknown; the second is reported for sell orders. */
const otherNames: readonly OtherShape[] = ['event.probe.unfamiliar', 'event.sell.init'].map((event_name) => {
  return { what: event_name, members: { event_name } };
});

const keepIt =
  'Keep what your code cannot read and answer 2xx, or answer 5xx so that the service may repeat it: it is authentic, and may be about money. If it is kept where your count of effects does not look (a dead letter), count that too.';

/** Authentic events in another form than the published one. */
export const shapeCases = {
  'authentic-unfamiliar': {
    what: 'authentic deliveries of events that the contract does not have',
    causes: ['refuses-unfamiliar', 'drops-unfamiliar'],
    expected: '2xx or 5xx',
    run: (attack) => judgeShapes(attack, otherNames),
  },
  'authentic-other-shape': {
    what: 'authentic deliveries of published events in another shape',
    causes: ['re-serialises', 'refuses-unfamiliar', 'drops-unfamiliar'],
    expected: '2xx, and handled or kept; or 5xx',
    run: (attack) => judgeShapes(attack, otherShapes),
  },
} satisfies CaseTable;

async function judgeShapes(attack: Attack, shapes: readonly OtherShape[]): Promise<CaseResult> {
  const results: CaseResult[] = [];
  const acknowledged: { readonly what: string; readonly id: string }[] = [];
  for (const { what, members } of shapes) {
    const body = attack.probes.authentic(members);
    // Of one given order each may be kept for a person, and only the first is acted on.
    const effect = attack.probes.order && ('separate' as const);
    const answer = await attack.post({ body, effect });
    const { event_name } = objectOf(body) ?? {};
    if (isAccepted(answer) && attack.handles.includes(String(event_name)))
      acknowledged.push({ what, id: orderIdOf(body) });
    results.push(judgeHonesty(answer, keepIt));
  }
  const worst = worstOf(results);
  const { handled } = attack;
  if (worst.verdict !== 'ok' || handled === undefined || !handled.isKnown()) return worst;
  const counts = await handled.awaited(oneOfEach(acknowledged.map(({ id }) => id)));
  const dropped = acknowledged.filter(({ id }) => !counts.get(id));
  if (dropped.length === 0) return worst;
  const forms = dropped.map(({ what }) => what).join(', ');
  const answered = `${worst.answered}, and nothing became of: ${forms}`;
  return { verdict: 'broken', answered, problem: 'dropped', advice: keepIt };
}
