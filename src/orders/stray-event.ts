import * as z from 'zod';
import { isJsonObject, type JsonValue } from '../internal/json.ts';

/** The first event of an order that the journal does not have. */
export interface StrayEvent {
  readonly partner_order_id: string;
  readonly name: string;
  readonly digest: string;
  readonly at: number;
}

const strayRecord = z.object({
  version: z.literal(1),
  stray: z.object({ partner_order_id: z.string(), name: z.string(), digest: z.string(), at: z.number() }),
});

/** A record in the place of the order's own, which overwrites it. */
export function toStrayRecord(stray: StrayEvent): JsonValue {
  return { version: 1, stray: { ...stray } };
}

/** `undefined` if the record is one of an order. */
export function readStray(value: JsonValue): StrayEvent | undefined {
  if (!isJsonObject(value) || value.stray === undefined) return undefined;
  return strayRecord.safeParse(value).data?.stray;
}
