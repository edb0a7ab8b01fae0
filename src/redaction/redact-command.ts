/**
 * Makes the error of a store's client safe to show. ioredis puts the whole failed command into it: its arguments may
 * hold the body of a delivery, or the password of Redis. PostgreSQL quotes what it refuses in two members of its own.
 */
export function redactCommand(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const safe: Record<string, unknown> = {};
  if ('command' in error && isCommand(error.command)) safe.command = { name: error.command.name };
  for (const quoting of ['detail', 'where']) if (quoting in error) safe[quoting] = undefined;
  const isSafe = Object.entries(safe).every(([member, value]) => Reflect.set(error, member, value));
  return isSafe ? error : new Error(error.message);
}

function isCommand(value: unknown): value is { readonly name: unknown; readonly args: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value && 'args' in value;
}
