import { readFileSync } from 'node:fs';
import type { PartnerCredentials } from '../../../src/credentials/partner-credentials.ts';
import type { SigningPurpose } from '../../../src/credentials/signing-key.ts';
import type { SignatureScheme } from '../../../src/signature/signature-scheme.ts';

/** What a vector of `vectors/signatures.json` may leave to the file's defaults. */
export interface VectorDefaults {
  readonly purpose: SigningPurpose;
  readonly scheme: SignatureScheme;
  readonly credentials: PartnerCredentials;
}

/** A vector with its defaults. */
export interface ConformanceVector extends VectorDefaults {
  readonly name: string;
  readonly expect: 'accept' | 'refuse';
  readonly bytes: Uint8Array;
  readonly signed: string | undefined;
}

type WrittenVector = Omit<ConformanceVector, 'bytes'> & {
  readonly body?: string;
  readonly bodyBase64?: string;
};

export const vectorsFile = new URL('../../../vectors/signatures.json', import.meta.url);

/** The vectors of the package, checked against their schema by conformance.test.ts. */
export function readConformanceVectors(): { vectors: ConformanceVector[]; defaults: VectorDefaults } {
  const file: { defaults: VectorDefaults; vectors: WrittenVector[] } = JSON.parse(
    readFileSync(vectorsFile, 'utf8'),
  );
  const vectors = file.vectors.map(({ body, bodyBase64, ...vector }) => ({
    ...file.defaults,
    ...vector,
    bytes: body === undefined ? Buffer.from(bodyBase64 ?? '', 'base64') : Buffer.from(body),
  }));
  return { vectors, defaults: file.defaults };
}
