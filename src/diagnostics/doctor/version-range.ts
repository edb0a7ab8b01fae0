/**
 * Whether a version is in a range of the form `^5.81.5 || ^6.0.0`, the only one that our peer dependencies have. A
 * pre-release is not: it comes before the version that it is named after.
 */
export function isInRange(version: string, range: string): boolean {
  const found = parseVersion(version);
  if (found === undefined) return false;
  return range.split('||').some((part) => {
    const least = parseVersion(part.trim().replace(/^\^/, ''));
    return least !== undefined && found[0] === least[0] && compareVersions(found, least) >= 0;
  });
}

type Version = readonly [major: number, minor: number, patch: number];

/** `undefined` for what is not three numbers, and for pre-releases. */
export function parseVersion(text: string): Version | undefined {
  const match = /^v?(\d+)\.(\d+)\.(\d+)(?:\+.*)?$/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** Below zero if the first one is older. */
export function compareVersions(one: Version, other: Version): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}
