import type { ClaimSubject } from './claims.ts';

/** The numbers that a dry run has come across. */
export function seenInDryRun() {
  const seen = new Set<string>();
  return {
    has: ({ key }: ClaimSubject): boolean => seen.has(key),
    add: ({ key }: ClaimSubject): void => {
      seen.add(key);
    },
  };
}
