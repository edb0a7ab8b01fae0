import type * as z from 'zod';
import { plainIssue } from '../deployment/plain-issue.ts';
import type { StandardSchema } from '../deployment/standard-schema.ts';
import { ValidationError } from '../errors/validation-error.ts';
import { findNonJson } from '../json/check-json-data.ts';
import type { JsonObject } from '../json/json-value.ts';
import { warnOfMisspelt } from './warn-of-misspelt.ts';

/**
 * Checks a call's input with its schema, and for anything that JSON would change.
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

/** The same for any Standard Schema, whose output may be anything. */
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
