export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Beyond this many pairs of lines, the part that differs is shown as replaced. */
const maxPairs = 4_000_000;

/** The lines of two texts, with the fewest changes from the first to the second. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [one, other] = [before.split('\n'), after.split('\n')];
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  return [
    ...one.slice(0, start).map(lineOf('same')),
    ...changes(one.slice(start, one.length - end), other.slice(start, other.length - end)),
    ...one.slice(one.length - end).map(lineOf('same')),
  ];
}

const lineOf = (kind: DiffLine['kind']) => (text: string) => ({ kind, text });

/** Removes and adds along a longest common subsequence. */
function changes(one: readonly string[], other: readonly string[]): DiffLine[] {
  if (one.length * other.length > maxPairs)
    return [...one.map(lineOf('removed')), ...other.map(lineOf('added'))];
  const width = other.length + 1;
  /** The length of the longest common subsequence of the lines from `i` and from `j` on. */
  const longest = new Uint32Array((one.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    const isSame = i < one.length && j < other.length && one[i] === other[j];
    const isRemoved = !isSame && i < one.length && (j === other.length || at(i + 1, j) >= at(i, j + 1));
    const kind = isSame ? 'same' : isRemoved ? 'removed' : 'added';
    lines.push({ kind, text: (kind === 'added' ? other[j] : one[i]) ?? '' });
    if (kind !== 'added') i++;
    if (kind !== 'removed') j++;
  }
  return lines;
}
