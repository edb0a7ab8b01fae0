import { CliError } from '../../terminal/context.ts';
import { parsedBy } from '../../terminal/flags.ts';
import type { DeliveryVerdict } from './handle-request.ts';

const members = { event: 'event_name', order: 'partner_order_id', kind: 'kind' } as const;
const kinds = ['known', 'unknown', 'nonconforming'];

/** A condition on a member of a delivery. */
interface DeliveryFilter {
  readonly name: keyof typeof members;
  readonly pattern: RegExp;
}

export const filterFlag = parsedBy(parseFilter).list(
  'name=pattern',
  'Show and forward only these: event=, order= or kind= (known, unknown, nonconforming), with * for any text. The same name again: either; another name: both',
);

/** `event=event.buy.*`: everything but `*` is literal. */
function parseFilter(input: string): DeliveryFilter {
  const { name, value } = /^(?<name>event|order|kind)=(?<value>.+)$/s.exec(input)?.groups ?? {};
  if (name === undefined || value === undefined) {
    throw new CliError(
      'must be event=, order= or kind= and a pattern, such as event=event.buy.* or order=A-*',
    );
  }
  // Several * in a row mean one, and would take long to match.
  const source = value.split(/\*+/).map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  const pattern = new RegExp(`^${source.join('.*')}$`, 's');
  if (name === 'kind' && !kinds.some((kind) => pattern.test(kind))) {
    throw new CliError(`must be kind= and one of ${kinds.join(', ')}`);
  }
  // Sound: the expression above allows these names alone.
  return { name: name as DeliveryFilter['name'], pattern };
}

/** Whether a delivery passes: for each name, one of its patterns must fit. */
export function passes(verdict: DeliveryVerdict, filters: readonly DeliveryFilter[]): boolean {
  const groups = Map.groupBy(filters, ({ name }) => name);
  return [...groups].every(([name, patterns]) =>
    patterns.some(({ pattern }) => pattern.test(verdict[members[name]] ?? '')),
  );
}
