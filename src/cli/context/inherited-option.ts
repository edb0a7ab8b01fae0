/** `toString`, `constructor` and the like, in lower case. */
const inherited = new Set(Object.getOwnPropertyNames(Object.prototype).map((name) => name.toLowerCase()));

/**
 * Whether one of the words would be an option that no command has: stricli looks options up in plain objects, and finds
 * there what every object inherits, in each of the spellings that it allows (`--to-string`, `--noToString`).
 */
export function hasInheritedOption(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? undefined : end).some((word) => {
    const [, name = ''] = /^--(?!-)([^=]*)/.exec(word) ?? [];
    const bare = name.replaceAll('-', '').toLowerCase();
    return inherited.has(name.toLowerCase()) || inherited.has(bare) || inherited.has(bare.replace(/^no/, ''));
  });
}
