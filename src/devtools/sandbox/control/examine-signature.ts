import { merchantsFor, type SigningPurpose, signingKey } from '../../../credentials/signing-key.ts';
import { type Operation, operations } from '../../../deployment/operations.ts';
import { whatFailed } from '../../../errors/errors.ts';
import { explainMismatch } from '../../diagnostics/mismatch/explain-mismatch.ts';
import { tryVerify } from '../../diagnostics/try-verify.ts';
import type { Partner } from '../world/partner-registry.ts';
import type { SandboxState } from '../world/state.ts';
import type { TraceEntry } from '../world/trace.ts';

/** The signature of a request or an event, held against the keys of its partner. */
export interface ExaminedSignature {
  readonly holds: boolean;
  /** The key that made it; or why it does not hold, and what to do. */
  readonly sentences: readonly string[];
  /** Absent if it does not hold. */
  readonly signedText?: string;
}

/** `undefined` for what is not signed. */
export function examineSignature(state: SandboxState, entry: TraceEntry): ExaminedSignature | undefined {
  const { body } = entry;
  const purpose = purposeOf(entry);
  if (purpose === undefined || body === undefined) return undefined;
  const scheme = state.deployment.signature;
  const partner = partnerOf(state, entry);
  const generations = partner === undefined ? [] : [partner, ...(partner.earlier ?? [])];
  const keys = generations.flatMap(({ credentials }, index) => {
    const merchants = purpose === 'order' ? merchantsFor(credentials, scheme) : [undefined];
    return merchants.map((merchant) => ({
      text: signingKey(credentials, purpose, { scheme, merchant }),
      age: index === 0 ? '' : ', which was replaced since',
    }));
  });
  // Without a partner there is no key that could match.
  const texts = keys.length === 0 ? ['no key was issued'] : keys.map(({ text }) => text);
  const { refusal, text, keyIndex } = tryVerify(body, texts, scheme);
  if (refusal === undefined) {
    const name = purpose === 'order' ? 'order key' : 'partner secret';
    const made = `Made with the ${name} of ${partner?.partnerCode}${keys[keyIndex]?.age}.`;
    return { holds: true, sentences: [made], signedText: text };
  }
  // A fault is the reason itself. An explanation tries thousands of combinations, and blocks all other requests.
  const isExplained = entry.faults.length === 0 && body.length <= 16 * 1024;
  const reasons = isExplained ? explanation(state, { body, purpose, partner }) : [];
  return { holds: false, sentences: [whatFailed(refusal), ...reasons] };
}

function explanation(
  { partners, deployment }: SandboxState,
  { body, purpose, partner }: { body: string; purpose: SigningPurpose; partner: Partner | undefined },
): string[] {
  const others = partners.all.filter((other) => other !== partner).slice(0, 3);
  const credentials = [...(partner === undefined ? [] : [partner]), ...others].flatMap((known) =>
    [known, ...(known.earlier ?? []).slice(0, 1)].map((keys) => keys.credentials),
  );
  const { findings } = explainMismatch(body, { credentials, scheme: deployment.signature, purpose });
  return [...findings.map(({ what }) => what), findings[0]?.advice ?? []].flat();
}

function purposeOf({ kind, operation }: TraceEntry): SigningPurpose | undefined {
  if (kind === 'event') return 'order';
  if (operation === undefined || !Object.hasOwn(operations, operation)) return undefined;
  // Sound: it is a key of the table.
  const { signedWith } = operations[operation as Operation];
  return signedWith === 'nothing' ? undefined : signedWith;
}

/** The partner that sent the request, or that receives the event. */
function partnerOf({ partners }: SandboxState, { headers }: TraceEntry): Partner | undefined {
  const publicKey = headers?.authorization?.replace(/^Bearer +/i, '');
  return partners.all.find((partner) =>
    [partner, ...(partner.earlier ?? [])].some(
      ({ credentials }) => credentials.partnerPublicKey === publicKey,
    ),
  );
}
