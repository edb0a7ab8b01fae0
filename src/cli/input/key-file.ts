import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { createKeyRotation } from '../../rotation/create-key-rotation.ts';
import { decodeBody } from '../../signature/decode-body.ts';

/** Whether a file is that of a rotation (`keyFile`), with generations of keys, and not bare credentials. */
export function isKeyFile(value: JsonObject): boolean {
  return 'version' in value && 'retired' in value;
}

/** The generations that verify now; the first signs. */
export async function generationsIn(
  bytes: Uint8Array,
  now: () => number,
): Promise<readonly PartnerCredentials[]> {
  const storage = { read: async () => decodeBody(bytes), update: async () => {} };
  const { verifying } = await createKeyRotation({ storage, now }).credentials();
  return verifying;
}
