import type { AssumptionId } from '../deployment/assumptions.ts';
import { contraryStatuses } from '../deployment/event-statuses.ts';
import { InboxError } from '../errors/errors.ts';
import { quotedName } from '../internal/printable-text.ts';
import type { EventIssue, ParsedOrderEvent } from './parse-order-event.ts';

/** An authentic body that is no published event, or cannot be read as the event of its name. */
export type UnrecognizedEvent = Exclude<ParsedOrderEvent, { kind: 'known' }>;

const mostIssues = 5;

/**
 * The error of an event that nobody here can read: it names the event, its order, and what differs, without a value of
 * any other member. An inbox makes a dead letter of the delivery at once.
 */
export function unrecognizedEvent(event: UnrecognizedEvent): InboxError {
  const issues = event.kind === 'nonconforming' ? event.issues.slice(0, mostIssues) : [];
  const differences = issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
  const what = `The authentic event ${quotedName(event.name)}${orderOf(event)} ${
    event.kind === 'unknown' ? 'is no published event' : `cannot be read: ${differences.join('; ')}`
  }`;
  const assumptions = [
    ...new Set(
      issues.length === 0
        ? ['other-events' as const]
        : issues.map((issue) => assumptionOf(event.name, issue)),
    ),
  ];
  return new InboxError('event_unrecognized', `${what} (${assumptions.join(', ')}).`, { assumptions });
}

function orderOf({ body }: UnrecognizedEvent): string {
  const { partner_order_id: id } = body;
  return typeof id === 'string' || typeof id === 'number' ? ` of order ${quotedName(String(id))}` : '';
}

function assumptionOf(event: string, { path }: EventIssue): AssumptionId {
  const member = path.join('.');
  if (contraryStatuses(event, member) === undefined) return 'event-shape';
  return `${event} ${member}` === 'event.buy.credited.crypto crypto_payment_status'
    ? 'terminal-crypto-status'
    : 'event-statuses';
}
