import { printableText } from '../../../../internal/printable-text.ts';
import type { JournaledEvent, JournaledOrder } from '../../../../orders/journaled-order.ts';
import type { OrderState } from '../../../../orders/order-state.ts';
import type { Paint, Style } from '../../terminal/terminal-text.ts';

const styles: Readonly<Record<OrderState, Style>> = {
  accepted: 'green',
  unknown: 'yellow',
  sending: 'yellow',
  waiting: 'yellow',
  prepared: 'dim',
  'not-sent': 'dim',
  refused: 'red',
  abandoned: 'dim',
};

export function describeOrder(order: JournaledOrder, paint: Paint): string {
  const { partner_order_id, state, merchant, attempts, createdAt, evidence, status, failure, contradiction } =
    order;
  const facts = [
    `${attempts} ${attempts === 1 ? 'request' : 'requests'}`,
    `since ${new Date(createdAt).toISOString()}`,
    merchant && `merchant ${merchant}`,
    evidence && `by ${evidence}`,
    status && `status ${status}`,
    failure,
    contradiction && `contradiction: it was ${contradiction}`,
  ];
  const text = facts.filter((fact) => fact !== undefined && fact !== 0 && fact !== '').join(', ');
  return `${paint(styles[state], state.replace('-', ' ').padEnd(9))} ${printableText(partner_order_id)} (${printableText(text)})`;
}

/** All that the journal knows of an order, and what to do. */
export function describeWhole(order: JournaledOrder, paint: Paint): string[] {
  const { ordered, timeline, events = [], attention, state, platform_order_ref: ref, note } = order;
  const { chain, fiat_currency, fiat_amount } = ordered ?? {};
  const asked = [fiat_amount, fiat_currency, chain && `on ${chain}`].filter(Boolean).join(' ');
  return [
    describeOrder(order, paint),
    ...(asked === '' ? [] : [`  ordered: ${printableText(asked)}`]),
    ...(ref === undefined ? [] : [`  at the service: ${printableText(ref)}`]),
    ...(timeline === undefined ? [] : [`  stage: ${timeline.stage.replace('_', ' ')}`]),
    ...events.map((event) => `  ${describeEvent(event, paint)}`),
    ...(note === undefined ? [] : [`  note: ${printableText(note)}`]),
    `  ${paint('bold', attention === undefined ? nextSteps[state] : attentionStep)}`,
  ];
}

export function describeEvent(
  { name, at, digest, differences, decision }: JournaledEvent,
  paint: Paint,
): string {
  const differing = differences?.map(({ member, ordered, reported }) =>
    reported === undefined ? member : `${member} ${reported} instead of ${ordered}`,
  );
  const facts = [
    differing && `differs: ${differing.join(', ')}`,
    decision && `${decision.verdict}: ${decision.note}`,
  ].filter((fact) => fact !== undefined);
  const text = `${new Date(at).toISOString()} ${name} (${digest})`;
  const more =
    facts.length === 0
      ? ''
      : paint(decision === undefined ? 'yellow' : 'dim', `: ${printableText(facts.join('; '))}`);
  return printableText(text) + more;
}

const attentionStep =
  'Look at the service: an event differs from the order. If it is right: order settle … accepted --event <digest> --note "…", and inbox replay of the digest. If it is wrong: rejected.';

const nextSteps: Readonly<Record<OrderState, string>> = {
  accepted: 'Nothing to do here.',
  unknown: 'Wait for an event of it, or look at the service, and settle it.',
  sending: 'Wait for the result.',
  waiting: 'It is sent again once new keys are received, or the rate limit is over.',
  prepared: 'It is not sent yet: create it.',
  'not-sent': 'Nothing reached the service: create it again.',
  refused: 'The service refused it: change it, or send it again.',
  abandoned: 'A person gave it up.',
};
