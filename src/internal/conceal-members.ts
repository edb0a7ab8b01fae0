/** How Node, Bun and Deno print an object. */
const inspect = Symbol.for('nodejs.util.inspect.custom');

/** Hides members from all that prints or copies an object; where hidden members show too, `print` stands for it. */
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
