const required = ['PARTNER_PUBLIC_KEY', 'PARTNER_SECRET_KEY'] as const;

/** The unset variables of which `readEnvironment` would have made credentials. Names only, never a value. */
export function unsetVariables(
  env: object = (globalThis as { process?: { env?: object } }).process?.env ?? {},
): string {
  const unset = required.filter((name) => [undefined, ''].includes(Reflect.get(env, name)));
  if (unset.length === 0) return 'readEnvironment() returns them as `credentials`';
  const verb = unset.length === 1 ? 'is' : 'are';
  return `readEnvironment() reads them, and ${unset.join(' and ')} ${verb} not set`;
}
