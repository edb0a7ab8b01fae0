/**
 * The error of a store's client as a copy that is safe to show. ioredis puts the failed command into its error, with
 * the body of a delivery or the password of Redis; PostgreSQL quotes the values of rows and the statement.
 */
export function driverError(error: unknown, maxCauses = 5): unknown {
  if (!(error instanceof Error) || !quotesData(error)) return error;
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? error.code : undefined;
  const command = 'command' in error && isCommand(error.command) ? { name: error.command.name } : undefined;
  const hasCause = cause !== undefined && maxCauses > 0;
  const copy = new Error(message, hasCause ? { cause: driverError(cause, maxCauses - 1) } : {});
  Object.defineProperty(copy, 'name', { value: name });
  Object.defineProperty(copy, 'stack', { value: stack });
  return Object.assign(copy, code !== undefined && { code }, command && { command });
}

function quotesData(error: Error): boolean {
  return (
    sqlStateOf(error) !== undefined ||
    ['detail', 'where'].some((member) => member in error) ||
    ('command' in error && isCommand(error.command))
  );
}

function isCommand(value: unknown): value is { readonly name: unknown; readonly args: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value && 'args' in value;
}

/** The code of an error that PostgreSQL itself reported; `undefined` for any other error. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
