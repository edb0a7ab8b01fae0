import type { OrderState } from '../../../errors/errors.ts';
import { printableText } from '../../../internal/printable-text.ts';
import type { JournaledOrder } from '../../../orders/journaled-order.ts';
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
