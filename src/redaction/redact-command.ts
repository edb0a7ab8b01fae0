/**
 * Makes the error of a store's client safe to show. ioredis puts the whole failed command into it: its arguments may
 * hold the body of a delivery, or the password of Redis.
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
