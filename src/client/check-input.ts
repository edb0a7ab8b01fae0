import * as z from 'zod';
import { plainIssue } from '../deployment/plain-issue.ts';
import type { StandardSchema } from '../deployment/standard-schema.ts';
import { ValidationError } from '../errors/errors.ts';
import { findNonJson, type JsonObject } from '../internal/json.ts';
import { nearestName } from '../internal/nearest-name.ts';
import { warnOnce } from '../internal/warn.ts';

/**
 * Checks input with its schema, and for anything that JSON would change.
 *
 * @throws {ValidationError} naming each member that does not fit, never its value
 */
export function checkInput(operation: string, schema: z.ZodObject, input: unknown): JsonObject {
  warnOfMisspelt(operation, schema, input);
  const result = schema.safeParse(input);
  if (!result.success) {
    throw new ValidationError(
      operation,
      result.error.issues.map((issue) => plainIssue(issue, input)),
    );
  }
  const issue = findNonJson(result.data);
  if (issue) throw new ValidationError(operation, [issue]);
  // Sound: an object schema returns an object, and the walk has found only JSON data.
  return result.data as JsonObject;
}

/** For any Standard Schema, whose output may be anything. */
export async function checkWithSchema(
  operation: string,
  schema: StandardSchema,
  input: unknown,
): Promise<unknown> {
  warnOfMisspelt(operation, schema, input);
  const result = await schema['~standard'].validate(input);
  if (result.issues !== undefined) {
    throw new ValidationError(
      operation,
      result.issues.map((issue) => plainIssue(issue, input)),
    );
  }
  const issue = findNonJson(result.value);
  if (issue) throw new ValidationError(operation, [issue]);
  return result.value;
}

/** More members than any payload has. */
const maxMembers = 100;

/**
 * Warns, once per name, of a member that looks misspelt: no error, since deployments differ. TypeScript refuses it;
 * this is for JavaScript and for objects built in several steps. Only a zod object lists its members.
 */
function warnOfMisspelt(operation: string, schema: StandardSchema, input: unknown): void {
  if (!(schema instanceof z.ZodObject) || typeof input !== 'object' || input === null) return;
  const known = Object.keys(schema.shape);
  for (const name of Object.keys(input).slice(0, maxMembers)) {
    if (known.includes(name)) continue;
    const meant = nearestName(name, known);
    // A longer name is a member of its own: fiat_amount_usd, message_type.
    if (meant === undefined || name.length > meant.length + 2) continue;
    warnOnce(`${operation} does not know the member "${name}": did you mean "${meant}"?`);
  }
}
