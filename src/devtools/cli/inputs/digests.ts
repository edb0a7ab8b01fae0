import { CliError } from '../terminal/context.ts';
import { parsedBy } from '../terminal/flags.ts';

/** The SHA-256 of an event's body, in hexadecimal digits, or its beginning. */
export function digestArg(brief: string) {
  return { placeholder: 'digest', brief, parse: parseDigest } as const;
}

export const digestFlag = parsedBy(parseDigest);

function parseDigest(input: string): string {
  if (/^[0-9a-f]{6,64}$/.test(input)) return input;
  throw new CliError('must be 64 hexadecimal digits, or at least the first six of them');
}

/**
 * Finds the item whose digest begins with these digits, the last one if several have the same digest.
 *
 * @throws {CliError} if several digests begin so
 */
export function findByDigest<Item extends { readonly digest: string }>(
  items: readonly Item[],
  start: string,
  plural: string,
): Item | undefined {
  const found = items.filter(({ digest }) => digest.startsWith(start));
  if (new Set(found.map(({ digest }) => digest)).size > 1) {
    throw new CliError(`Several ${plural} begin with ${start}: give more of the digest.`);
  }
  return found.at(-1);
}
