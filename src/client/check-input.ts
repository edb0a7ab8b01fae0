import type * as z from 'zod';
import { reportedBuyOrder } from '../deployment/order-schema.ts';
import { bareIssue, issuePath, type StandardSchema } from '../deployment/standard-schema.ts';
import { ValidationError } from '../errors/errors.ts';
import { findNonJson, type JsonObject } from '../internal/json.ts';

/**
 * Checks input with its schema, and for anything that JSON would change.
 *
 * @throws {ValidationError} naming each member that does not fit, never its value
 */
export function checkInput(operation: string, schema: z.ZodObject, input: unknown): JsonObject {
  const { data, error } = schema.safeParse(input, { error: plainMessage });
  if (error) {
    const issues = error.issues.map((issue) => ({ path: issuePath(issue), message: issue.message }));
    throw new ValidationError(operation, issues);
  }
  // Sound: an object schema returns an object, and the walk has found only JSON data.
  return requireJson(operation, data) as JsonObject;
}

/** Checks with any Standard Schema, whose output may be anything. Issues of ours are said in plain words. */
export async function checkWithSchema(
  operation: string,
  schema: StandardSchema,
  input: unknown,
): Promise<unknown> {
  if (schema === reportedBuyOrder) return checkInput(operation, reportedBuyOrder, input);
  const result = await schema['~standard'].validate(input);
  if (result.issues === undefined) return requireJson(operation, result.value);
  throw new ValidationError(operation, result.issues.map(bareIssue));
}

/** zod's messages for the checks of our schemas, for people who do not know zod. */
function plainMessage(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && issue.path?.length) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return 'must not be empty';
    case 'too_big':
      return `must have at most ${issue.maximum} characters`;
    default:
      return 'does not fit';
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  object: 'an object',
};

function requireJson(operation: string, value: unknown): unknown {
  const issue = findNonJson(value);
  if (issue) throw new ValidationError(operation, [issue]);
  return value;
}
