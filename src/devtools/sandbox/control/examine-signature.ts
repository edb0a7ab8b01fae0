import { merchantsFor, type SigningPurpose, signingKey } from '../../../credentials/signing-key.ts';
import { type Operation, operations } from '../../../deployment/operations.ts';
import { isSignatureError, whatFailed } from '../../../errors/errors.ts';
import { canonicalText } from '../../../signature/serializations.ts';
import { decodeBody, parseSignedBody } from '../../../signature/signed-body.ts';
import { tryVerify } from '../../../signature/try-verify.ts';
import { explainMismatch } from '../../diagnostics/mismatch/explain-mismatch.ts';
import type { Partner } from '../world/partner-registry.ts';
import type { SandboxState } from '../world/state.ts';
import type { TraceEntry } from '../world/trace.ts';

export interface ExaminedSignature {
  readonly holds: boolean;
  /** The key that made it, in words. */
  readonly key?: string;
  /** Whether this key may sign this. */
  readonly isExpectedKey?: boolean;
  readonly signedText?: string | undefined;
  readonly reason?: { readonly code: string; readonly message: string };
  /** Why it does not hold, and what to do, in sentences. Absent under a fault, which is the reason then. */
  readonly explanation?: readonly string[] | undefined;
}

/** Checks the signature of a request or an event against all keys; `undefined` for what is not signed. */
export function examineSignature(state: SandboxState, entry: TraceEntry): ExaminedSignature | undefined {
  const purpose = purposeOf(entry);
  if (purpose === undefined || entry.body === undefined) return undefined;
  const { body } = entry;
  const scheme = state.deployment.signature;
  const partner = partnerOf(state, entry);
  const keys = issuedKeys(state, { likely: partner, at: entry.time });
  // Without partners there is no key that could match.
  const texts = keys.length === 0 ? ['no key was issued'] : keys.map(({ key }) => key);
  const { refusal, text, keyIndex } = tryVerify(body, texts, scheme);
  if (refusal !== undefined) {
    return {
      holds: false,
      signedText: signedText(state, body),
      reason: { code: refusal.code, message: whatFailed(refusal) },
      explanation: entry.faults.length === 0 ? explanation(state, { body, purpose, partner }) : undefined,
    };
  }
  const found = keys[keyIndex];
  return {
    holds: true,
    key: found?.label ?? '',
    // False for another partner's key, a replaced one, and the one for other requests.
    isExpectedKey:
      found?.purpose === purpose && found.isCurrent && found.partnerCode === partner?.partnerCode,
    signedText: text,
  };
}

/** An explanation tries thousands of combinations, and blocks all other requests. */
const maxExplained = 16 * 1024;

interface Unverified {
  readonly body: string;
  readonly purpose: SigningPurpose;
  readonly partner: Partner | undefined;
}

function explanation(state: SandboxState, { body, purpose, partner }: Unverified): string[] | undefined {
  if (body.length > maxExplained) return undefined;
  const others = state.partners.all.filter((other) => other !== partner).slice(0, 3);
  const credentials = [...(partner === undefined ? [] : [partner]), ...others].flatMap((known) =>
    [known, ...(known.earlier ?? []).slice(0, 1)].map((keys) => keys.credentials),
  );
  const scheme = state.deployment.signature;
  const { findings } = explainMismatch(body, { credentials, scheme, purpose });
  const { advice } = findings[0] ?? {};
  return [...findings.map(({ what }) => what), ...(advice === undefined ? [] : [advice])];
}

function purposeOf({ kind, operation }: Pick<TraceEntry, 'kind' | 'operation'>): SigningPurpose | undefined {
  if (kind === 'event') return 'order';
  if (operation === undefined || !Object.hasOwn(operations, operation)) return undefined;
  // Sound: it is a key of the table.
  const { signedWith } = operations[operation as Operation];
  return signedWith === 'nothing' ? undefined : signedWith;
}

/** The partner that sent the request, or that receives the event. */
function partnerOf(
  { partners }: SandboxState,
  { headers }: Pick<TraceEntry, 'headers'>,
): Partner | undefined {
  const publicKey = headers?.authorization?.replace(/^Bearer +/i, '');
  return partners.all.find((partner) =>
    [partner, ...(partner.earlier ?? [])].some(
      ({ credentials }) => credentials.partnerPublicKey === publicKey,
    ),
  );
}

/** The signed text; `undefined` if the body is malformed. */
function signedText({ deployment }: SandboxState, body: string): string | undefined {
  const scheme = deployment.signature;
  try {
    return canonicalText(scheme, parseSignedBody(decodeBody(body), scheme.encoding));
  } catch (error) {
    if (isSignatureError(error)) return undefined;
    throw error;
  }
}

interface IssuedKey {
  readonly key: string;
  readonly purpose: 'general' | 'order';
  readonly partnerCode: string;
  /** Whether it was current at that time. */
  readonly isCurrent: boolean;
  /** A name that does not reveal it. */
  readonly label: string;
}

/** The keys that can have signed an entry, those of the likeliest partner first. */
function issuedKeys(
  state: SandboxState,
  { likely, at }: { likely: Partner | undefined; at: number },
): IssuedKey[] {
  const partners = [...state.partners.all].sort(
    (one, other) => Number(other === likely) - Number(one === likely),
  );
  return partners.slice(0, maxPartners).flatMap((partner) => keysOf(partner, state, at));
}

/** Trying the keys of thousands of partners would take too long. */
const maxPartners = 100;

function keysOf(partner: Partner, { deployment }: SandboxState, at: number): IssuedKey[] {
  const scheme = deployment.signature;
  const { partnerCode, earlier = [] } = partner;
  const generations = [{ credentials: partner.credentials, until: Number.POSITIVE_INFINITY }, ...earlier];
  return generations.flatMap(({ credentials, until }, index) => {
    // Both may have been current in the same millisecond.
    const isCurrent = at <= until && at >= (generations[index + 1]?.until ?? 0);
    const age = ages[index] ?? `, before the last ${index} regenerations`;
    const facts = { partnerCode, isCurrent };
    const orders = merchantsFor(credentials, scheme).map((merchant) => ({
      ...facts,
      key: signingKey(credentials, 'order', { scheme, merchant }),
      purpose: 'order' as const,
      label: `order key${merchant === undefined ? '' : ` for ${merchant}`} of ${partnerCode}${age}`,
    }));
    const general = {
      ...facts,
      key: signingKey(credentials, 'general'),
      purpose: 'general' as const,
      label: `partner secret of ${partnerCode}${age}`,
    };
    return [...orders, general];
  });
}

const ages = ['', ', before the last regeneration'] as const;
