/** The {@link nearestSpelling}, or a known name that contains this one or is contained in it. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const near = nearestSpelling(name, known);
  const wanted = name.toLowerCase();
  if (near !== undefined || wanted.length < 4 || wanted.length > maxLength) return near;
  // `timeout` for `timeoutMs`, `mail` for `buyer_email`.
  return known.find(
    (candidate) => candidate.toLowerCase().includes(wanted) || wanted.includes(candidate.toLowerCase()),
  );
}

/** The {@link nearestName}, or the known value of the same words in another order: `event.buy.close`. */
function nearestValue(value: string, known: readonly string[]): string | undefined {
  if (value.length > maxLength) return undefined;
  const words = (text: string) =>
    text
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .toSorted()
      .join(' ');
  return (
    nearestSpelling(value, known) ??
    known.find((each) => words(each) === words(value)) ??
    nearestName(value, known)
  );
}

/** Ends the sentence about a wrong value. The value itself is not repeated: it may be a key in the wrong place. */
export function proposal(input: string, words: readonly string[]): string {
  const near = nearestValue(input, words);
  return near === undefined ? '' : `: did you mean ${near}?`;
}

/** The known name at most two edits away (one for a short name), whatever its case; `undefined` when none is near. */
export function nearestSpelling(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined;
  const wanted = name.toLowerCase();
  const most = name.length > 4 ? 2 : 1;
  const [best] = known
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= most)
    .sort((one, other) => one.distance - other.distance);
  return best?.candidate;
}

/** A longer name is not one of ours, and comparing it could be costly. */
const maxLength = 64;

/** Letters to add, drop, change or swap to turn one text into the other (optimal string alignment). */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (row > 1 && column > 1 && swapped) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
}
