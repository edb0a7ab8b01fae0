/**
 * Valid addresses without an owner, for documents and tests: in the place of a key is the SHA-256 of
 * "partner-exchange-sdk: example address, held by nobody" (its first 20 bytes), of that text with ", another", and for
 * MobileCoin with ", view key, 18" and ", spend key, 11" (the first numbers that give points of its curve).
 */
const exampleAddresses: ReadonlySet<string> = new Set([
  'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  'TTZW3rKNFSK4L4tWqMosLsdd8EkBhEKGG2',
  '0xb7c978b070509bfeefa71fc3c984775072f837df',
  '8rhNCgY6z9Tz1Ho36kqhf6nM1xCNSRSV73bBwY2NPdK6zindE2TVjJuHhmJfiSbPqfenxMMUVuNBUJV3HxVotWR7XxE1MfwEffngFmvcDZq',
]);

/** Another example of the same form. */
export function otherExample(address: string): string | undefined {
  return [...exampleAddresses].find((each) => each !== address && each[0] === address[0]);
}

export function isExampleAddress(address: string): boolean {
  return exampleAddresses.has(address) || exampleAddresses.has(address.toLowerCase());
}
