/**
 * To take into your project: what the callbacks report, and what the health functions say, in the text format of
 * Prometheus, without a further package.
 */
import type { ObservedResponse, UnansweredAttempt } from 'partner-exchange-sdk';
import type { DeliveryReport } from 'partner-exchange-sdk/webhooks';

type Labels = Readonly<Record<string, string | number | undefined>>;

/** Counts in this process; the health is asked for when the text is. */
export function prometheus() {
  /** By their names, each with its values by labels. */
  const counters = new Map<string, Map<string, number>>();

  function count(name: string, labels: Labels, amount = 1): void {
    const values = counters.get(name) ?? new Map<string, number>();
    const key = labelText(labels);
    counters.set(name, values.set(key, (values.get(key) ?? 0) + amount));
  }

  return {
    /** For `createWebhooks`. No label is a digest, an id or a name of an event: each value is a series for good. */
    onDelivery({ stage, outcome, code, durationMs, waitedMs }: DeliveryReport): void {
      count('partner_exchange_deliveries_total', { stage, outcome, code });
      if (durationMs !== undefined)
        count('partner_exchange_delivery_seconds_total', { stage, outcome }, durationMs / 1000);
      if (waitedMs !== undefined)
        count('partner_exchange_inbox_wait_seconds_total', { outcome }, waitedMs / 1000);
    },
    /** For a client. */
    onResponse({ operation, status, durationMs }: ObservedResponse): void {
      count('partner_exchange_replies_total', { operation, status });
      count('partner_exchange_reply_seconds_total', { operation }, durationMs / 1000);
    },
    /** For a client. */
    onNoResponse({ operation, code, outcome }: UnansweredAttempt): void {
      count('partner_exchange_no_replies_total', { operation, code, outcome });
    },
    /**
     * The text of `GET /metrics`.
     *
     * @param health such as `{ inbox: await inbox.health(), orders: await journal.health() }`: each number and truth value
     *   becomes a gauge, such as `partner_exchange_inbox_dead`
     */
    text(health: object): string {
      const gauges = gaugesOf(health, 'partner_exchange').map(([name, value]) =>
        metric(name, 'gauge', [['', value]]),
      );
      const counted = [...counters].map(([name, values]) => metric(name, 'counter', [...values]));
      return [...gauges, ...counted].join('');
    },
  };
}

function metric(
  name: string,
  type: 'gauge' | 'counter',
  values: readonly (readonly [string, number])[],
): string {
  const lines = values.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${String(value).replaceAll(/[\\"\n]/g, escaped)}"`],
  );
  return pairs.length === 0 ? '' : `{${pairs.join()}}`;
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}

/** Members of members have the names of both: `inbox.oldestAgeMs` is `…_inbox_oldest_age_ms`. */
function gaugesOf(value: unknown, name: string): [string, number][] {
  if (typeof value === 'number' && Number.isFinite(value)) return [[name, value]];
  if (typeof value === 'boolean') return [[name, value ? 1 : 0]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) => gaugesOf(inner, `${name}_${snakeCase(member)}`));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll(/\W/g, '_');
}
