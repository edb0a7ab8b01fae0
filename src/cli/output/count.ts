/** How many items there are of each value of a member: `12 ok, 1 fail`. */
export function count<Name extends string>(
  items: readonly Readonly<Record<Name, string>>[],
  name: Name,
): string {
  const groups = Map.groupBy(items, (item) => item[name]);
  return [...groups].map(([value, group]) => `${group.length} ${value}`).join(', ');
}
