import crypto from 'node:crypto';
import { isSignatureError, type SignatureScheme, signBody, verifyBody } from 'partner-exchange-sdk/signature';
import compactSorted from '../../vectors/compact-sorted.json' with { type: 'json' };
import schemes from '../../vectors/schemes.json' with { type: 'json' };
import published from '../../vectors/signatures.json' with { type: 'json' };
import { type Checks, equal, thrownBy } from './checks.ts';

/** Every vector, verified as text and as bytes; once more without `crypto.hash` where the runtime has it. */
export async function checkSignatures(checks: Checks): Promise<void> {
  const had = typeof crypto.hash === 'function';
  await checkVectors(checks, had ? 'crypto.hash' : 'createHmac');
  if (!had) {
    checks.note('no crypto.hash here: signed by createHmac');
    return;
  }
  const { hash } = crypto;
  if (!setHash(undefined)) {
    checks.note('crypto.hash cannot be taken away here: createHmac is tried with long texts only');
    return;
  }
  await checkVectors(checks, 'createHmac');
  setHash(hash);
  checks.note('with crypto.hash, and again without it by createHmac');
}

async function checkVectors(checks: Checks, by: string): Promise<void> {
  for (const vector of published.vectors) {
    const { merchantSecretKey, partnerSecretKey, purpose, sentText, signedText, name } = vector;
    const key = purpose === 'order' ? merchantSecretKey + partnerSecretKey : partnerSecretKey;
    const scheme = schemeOf(vector);
    await checks.run(`${name} by ${by}`, async () => {
      for (const body of [sentText, new TextEncoder().encode(sentText)]) {
        if (vector.expect === 'valid') equal(verifyBody(body, { key, scheme }).text, signedText);
        else equal(isSignatureError(await thrownBy(() => verifyBody(body, { key, scheme }))), true);
      }
    });
  }
  for (const vector of compactSorted.vectors) {
    const options = { key: compactSorted.key, scheme: schemeOf(vector) };
    await checks.run(`${vector.name} by ${by}`, async () => {
      if (isAmbiguous(options.scheme, vector.sentText)) await refusesAmbiguous(vector.sentText, options);
      else equal(verifyBody(vector.sentText, options).text, vector.signedText);
    });
  }
  for (const vector of schemes.vectors) {
    const options = { key: vector.key, scheme: schemeOf(vector) };
    await checks.run(`${vector.name} by ${by}`, async () => {
      if (isAmbiguous(options.scheme, vector.sent)) return await refusesAmbiguous(vector.sent, options);
      const { value } = verifyBody(vector.sent, options);
      const { signature: _, ...unsigned } = value;
      if (vector.own) equal(signBody(unsigned, options).text, vector.sent);
    });
  }
  await checks.run(`a long text by ${by}`, () => {
    const key = 'sk_merchant_longsk_partner_long';
    const { text } = signBody({ filler: 'é😀'.repeat(50_000) }, { key });
    equal(Object.keys(verifyBody(text, { key }).value), ['filler', 'signature']);
  });
}

/** Rightly signed, and refused all the same: under these schemes another value is signed alike. */
function isAmbiguous({ serialization }: SignatureScheme, sent: string): boolean {
  return (
    /compact|sorted/.test(serialization) &&
    !['python-sorted', 'minified-sorted'].includes(serialization) &&
    changesInJson(JSON.parse(sent))
  );
}

/** Whether a value holds a number that JSON.stringify writes as another value. */
function changesInJson(value: unknown): boolean {
  if (typeof value === 'number') return !Object.is(JSON.parse(JSON.stringify(value)), value);
  return typeof value === 'object' && value !== null && Object.values(value).some(changesInJson);
}

async function refusesAmbiguous(
  sent: string,
  options: { key: string; scheme: SignatureScheme },
): Promise<void> {
  const error = await thrownBy(() => verifyBody(sent, options));
  equal(isSignatureError(error) && error.code, 'body_ambiguous');
}

function schemeOf({ scheme }: { scheme: object }): SignatureScheme {
  // Sound: the vectors are made for schemes that exist; one that does not is refused by the check itself.
  return scheme as SignatureScheme;
}

/** Whether it could be set: the members of a built-in module may be fixed. */
function setHash(hash: unknown): boolean {
  try {
    Object.assign(crypto, { hash });
  } catch {
    return false;
  }
  return crypto.hash === hash;
}
