/** What `readEnvironment` makes credentials of. */
const required = ['PARTNER_PUBLIC_KEY', 'PARTNER_SECRET_KEY'] as const;

/**
 * For an error about missing credentials: the variables of which `readEnvironment` would have made them, as far as they
 * are not set. Names only, never a value.
 */
export function unsetVariables(
  env: object = (globalThis as { process?: { env?: object } }).process?.env ?? {},
): string {
  const unset = required.filter((name) => [undefined, ''].includes(Reflect.get(env, name)));
  if (unset.length === 0) return 'readEnvironment() returns them as `credentials`';
  const verb = unset.length === 1 ? 'is' : 'are';
  return `readEnvironment() makes them of environment variables, of which ${unset.join(' and ')} ${verb} not set`;
}
