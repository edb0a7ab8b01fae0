import * as z from 'zod';
import type { StandardSchema } from '../deployment/standard-schema.ts';
import { warnOnce } from '../errors/warn.ts';
import { nearestName } from '../options/nearest-name.ts';

/** More members than any payload has. A larger object is not one with a misspelt member. */
const maxMembers = 100;

/**
 * Warns of a member that looks like a misspelt one of the schema, once per name. It is not an error, since deployments
 * differ. TypeScript refuses it already; this is for JavaScript and for objects built in several steps.
 *
 * Only a zod object lists its members, so other schemas get no warning.
 */
export function warnOfMisspelt(operation: string, schema: StandardSchema, input: unknown): void {
  if (!(schema instanceof z.ZodObject) || typeof input !== 'object' || input === null) return;
  const known = Object.keys(schema.shape);
  for (const name of Object.keys(input).slice(0, maxMembers)) {
    if (known.includes(name)) continue;
    const meant = nearestName(name, known);
    // A longer name that contains a known one is a member of its own: fiat_amount_usd, message_type.
    if (meant === undefined || name.length > meant.length + 2) continue;
    warnOnce(`${operation} does not know the member "${name}": did you mean "${meant}"?`);
  }
}
