/** How Node, Bun and Deno print an object. */
const inspect = Symbol.for('nodejs.util.inspect.custom');

/**
 * Keeps members readable by name and out of all that shows an object: they are not enumerable, and `print` stands for
 * the object also where hidden members are shown, as `util.format('%o', …)` does.
 */
export function concealMembers(
  target: object,
  members: readonly string[],
  print: () => string | Readonly<Record<string, unknown>>,
): void {
  for (const member of members) {
    if (member in target) Object.defineProperty(target, member, { enumerable: false });
  }
  Object.defineProperty(target, inspect, { value: print });
}
