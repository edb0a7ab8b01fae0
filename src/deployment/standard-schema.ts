import { invalidOption } from '../internal/options.ts';

/**
 * The part of the Standard Schema interface (version 1) that we use: zod, valibot, arktype and others implement it.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The interface of Standard Schema, which zod, valibot and arktype have. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
      options?: undefined,
    ) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The value that a schema made, or why it does not fit. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** Why a value does not fit a schema. */
export interface StandardIssue {
  /** What is wrong with the value. */
  readonly message: string;
  /** Where it is wrong: member names and indexes, from the outside. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** @throws {ConfigurationError} `invalid_option` */
export function checkStandardSchema(given: unknown, name: string): StandardSchema {
  // Of anything that is no object there is no such member.
  const standard: unknown = Object(given)['~standard'];
  const validate: unknown = Object(standard).validate;
  // Sound as far as it can be: of a function only its being one can be checked.
  if (typeof validate === 'function') return given as StandardSchema;
  throw invalidOption(`${name} must be a Standard Schema (zod, valibot, arktype …).`);
}

/**
 * The issue of a schema that is not ours: its place and its code alone, since its message can quote the value.
 */
export function bareIssue(issue: StandardIssue): { path: (string | number)[]; message: string } {
  const code = 'code' in issue && typeof issue.code === 'string' ? issue.code : '';
  return {
    path: issuePath(issue),
    message: /^\w{1,40}$/.test(code) ? `does not fit (${code})` : 'does not fit',
  };
}

export function issuePath(issue: StandardIssue): (string | number)[] {
  return (issue.path ?? []).map((segment) => {
    const key = typeof segment === 'object' ? segment.key : segment;
    return typeof key === 'number' ? key : String(key);
  });
}
