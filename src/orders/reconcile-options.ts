import { defineOptions, integer, invalidOption, type OptionTable, optional } from '../internal/options.ts';

/** Options of `reconcile`. */
export interface ReconcileOptions {
  /** Only orders that the journal got at this time or later, in milliseconds since 1970. */
  since: number;
  /** Only orders that it got before this time. @default now */
  until?: number | undefined;
  /** Milliseconds after which an event or a step that is expected counts as missing. @default 3600000, an hour */
  olderThanMs?: number | undefined;
  /** The orders that the service says it has, such as the rows of a CSV file from its dashboard. */
  statement?: AsyncIterable<StatementRow> | Iterable<StatementRow> | undefined;
}

/** An order in a statement of the service. */
export interface StatementRow {
  /** The `partner_order_id`. */
  readonly id: string;
  /** The fiat amount that the buyer paid, such as `15,000.50`. */
  readonly amount?: string | undefined;
  /** The hash of the crypto payment. */
  readonly hash?: string | undefined;
}

export const readReconcileOptions = defineOptions('reconcile', {
  since: integer({ least: 0 }),
  until: optional(integer({ least: 0 })),
  olderThanMs: integer({ default: 3_600_000, least: 0 }),
  statement: optional((given) => {
    // Sound as far as it can be: the rows are checked when they are read.
    const rows = Object(given) as NonNullable<ReconcileOptions['statement']>;
    if (typeof given !== 'string' && (Symbol.asyncIterator in rows || Symbol.iterator in rows)) return rows;
    throw invalidOption('statement must be an iterable of rows.');
  }),
} satisfies OptionTable<ReconcileOptions>);

export type ReconcileSettings = ReturnType<typeof readReconcileOptions>;
