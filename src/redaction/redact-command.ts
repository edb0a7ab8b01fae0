/**
 * The error of a store's client, safe to be shown. ioredis tells of the whole command that failed: among its arguments
 * may be the body of a delivery, or the password of Redis.
 */
export function redactCommand(error: unknown): unknown {
  if (error instanceof Error && 'command' in error && isCommand(error.command)) {
    const isSet = Reflect.set(error, 'command', { name: error.command.name });
    if (!isSet) return new Error(error.message);
  }
  return error;
}

function isCommand(value: unknown): value is { readonly name: unknown; readonly args: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value && 'args' in value;
}
