/**
 * Makes the error of a PostgreSQL client safe to show. It carries the values of rows in `detail` and the statement in
 * other members: only its message and its code are kept.
 */
export function redactDatabaseError(error: unknown): unknown {
  const code = sqlStateOf(error);
  if (!(error instanceof Error) || code === undefined) return error;
  return Object.assign(new Error(error.message), { code });
}

/** The code of an error that PostgreSQL itself reported; `undefined` for any other error. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
