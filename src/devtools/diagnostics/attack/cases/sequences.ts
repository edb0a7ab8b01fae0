import { orderEventNames } from '../../../../events/event-names.ts';
import type { Attack, AttackCase, CaseTable } from '../attack-case.ts';
import { type CaseResult, worstOf } from '../case-result.ts';
import type { CauseId } from '../causes.ts';
import { deliverAsService, judgeAcceptance } from '../judge.ts';
import { objectOf, type ProbeMembers, type ProbeRequest } from '../probes.ts';

const anyOrder =
  'Acknowledge every authentic event, in whichever order they come, and act on the one that says what happened: the contract guarantees no order, and events overtake each other. Decide from the event, not from the one before.';

const event = (event_name: string, members: ProbeMembers = {}): ProbeMembers => ({ event_name, ...members });
const init = event('event.buy.init');
const received = event('event.buy.received.fiat');
const kycError = event('event.buy.received.fiat_kyc_error');
const credited = event('event.buy.credited.crypto');
const close = event('buy.event.close');

const common: readonly CauseId[] = ['handled-next-event'];
const withOtherForms: readonly CauseId[] = ['re-serialises', ...common];

/** Several authentic events of one order. */
export const sequenceCases = {
  'kyc-error-first': sequence({
    what: 'a KYC error before the fiat of the order is received, then the credit',
    causes: withOtherForms,
    events: [kycError, received, credited],
  }),
  'credited-first': sequence({
    what: 'the credit of an order before its other events',
    events: [credited, received, init],
  }),
  'refund-after-credit': sequence({
    what: 'a whole order, and then its close with a refund',
    causes: withOtherForms,
    events: [init, received, credited, close],
  }),
  'conflicting-statements': sequence({
    what: 'two credits of one order that contradict each other',
    causes: ['refuses-repetitions', ...common],
    events: [credited, { ...credited, crypto_amount_to_receive: 0.6, crypto_txn_hash: 'another-hash' }],
  }),
  'events-at-once': {
    what: 'two events of one order at once',
    causes: common,
    advice: anyOrder,
    expected: '2xx to both, at the latest when the second is repeated',
    async run(attack) {
      const results: CaseResult[] = [];
      for (let round = 0; round < 4; round++) {
        // Either can be first: the credit can overtake the other.
        const steps = stepsOf(attack, [received, credited]).map((step, index): Step => {
          return index === 0 ? { ...step, effect: 'optional' } : step;
        });
        const answers = await Promise.all(steps.map((step) => attack.post(step)));
        for (const [index, { body, effect }] of steps.entries()) {
          const answer = answers[index];
          const isDone = answer?.kind === 'answered' && answer.status < 300;
          // The one that lost may be refused for now: 409, 423 and 5xx ask to send it again.
          results.push(judgeAcceptance(isDone ? answer : await deliverAsService(attack, body, { effect })));
        }
      }
      return worstOf(results);
    },
  },
} satisfies CaseTable;

interface Sequence extends Pick<AttackCase, 'what' | 'causes'> {
  readonly events: readonly ProbeMembers[];
}

function sequence({ what, causes = common, events }: Sequence): AttackCase {
  return {
    what,
    causes,
    advice: anyOrder,
    expected: '2xx to each, and at most one effect of each',
    async run(attack) {
      const results: CaseResult[] = [];
      const watch = watchSteps(attack);
      for (const { body, effect } of stepsOf(attack, events)) {
        const answer = await deliverAsService(attack, body, { effect });
        const result = judgeAcceptance(answer);
        results.push(result.verdict === 'ok' ? ((await watch(body, { effect, result })) ?? result) : result);
      }
      return worstOf(results);
    },
  };
}

/** Counts the effects of an order after each of its events: their sum can be right when each is wrong. */
function watchSteps({ handled, handles, probes }: Attack) {
  let [counted, acknowledged] = [0, 0];
  return async (
    body: string,
    { effect, result }: { readonly effect: ProbeRequest['effect']; readonly result: CaseResult },
  ): Promise<CaseResult | undefined> => {
    // The given order has had effects before.
    if (handled === undefined || !handled.isKnown() || probes.order !== undefined) return undefined;
    const { partner_order_id, event_name } = objectOf(body) ?? {};
    const [id, name] = [String(partner_order_id), String(event_name)];
    const isDue = effect === undefined && handles.includes(name);
    const before = counted;
    counted = (await handled.awaited(new Map([[id, isDue ? before + 1 : 0]]))).get(id) ?? 0;
    acknowledged++;
    const answered = `${result.answered}, and ${counted - before} effects of ${name}`;
    if (counted > acknowledged) {
      const fault = `acts more than once on ${name} in an order of several events`;
      return { verdict: 'broken', answered, problem: 'repeated', fault, advice: onceEach };
    }
    if (!isDue || counted > before) return undefined;
    const fault = `does not act on ${name} after other events of its order`;
    return { verdict: 'broken', answered, problem: 'dropped', fault };
  };
}

const onceEach =
  'Guard each effect by the order and the name of the event, in one transaction with the effect.';

/** The later a state of an order, the later it stands. */
const stages: readonly unknown[] = orderEventNames;

/** An event of an order, as it is sent. */
type Step = Pick<ProbeRequest, 'effect'> & { readonly body: string };

function stepsOf({ probes }: Attack, events: readonly ProbeMembers[]): readonly Step[] {
  const order = probes.newOrder();
  return events.map((members, index) => {
    const { event_name } = members;
    const earlier = events.slice(0, index).map((members) => members.event_name);
    const isOvertaken = earlier.some((name) => stages.indexOf(name) > stages.indexOf(event_name));
    const isCredit = event_name === credited.event_name;
    const hash = isCredit ? { crypto_txn_hash: `hash-of-${order.partner_order_id}` } : {};
    return {
      body: probes.authentic({ ...order, ...hash, ...members }),
      effect: earlier.includes(event_name) ? 'separate' : isOvertaken ? 'optional' : undefined,
    };
  });
}
