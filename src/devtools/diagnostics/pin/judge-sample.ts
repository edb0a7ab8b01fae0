import type { KeyRing } from '../../../credentials/key-ring.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import { tryVerify } from '../../../signature/try-verify.ts';
import { detectScheme } from '../detection/detect-scheme.ts';
import { pinKeys } from './pin-scheme.ts';

/**
 * - `proof`: it verifies.
 * - `doubt`: it does not, but may be genuine, which speaks against the scheme.
 * - `stray`: a stranger can have posted it, so leave it out.
 */
export type SampleVerdict =
  | { readonly kind: 'proof' }
  | { readonly kind: 'doubt'; readonly reason: string }
  | StraySample;

export interface StraySample {
  readonly kind: 'stray';
  readonly reason: string;
  /** Whether it has a signature. */
  readonly isSigned: boolean;
}

/** Judges whether a sample proves a scheme. Without a proof it searches every scheme, which takes tenths of a second. */
export function judgeSample(body: Uint8Array, scheme: SignatureScheme, keys: KeyRing): SampleVerdict {
  const { refusal } = tryVerify(body, pinKeys({ credentials: keys }, scheme), scheme);
  return refusal === undefined ? { kind: 'proof' } : judgeRefused(body, keys);
}

/** Judges a sample that does not verify. */
export function judgeRefused(body: Uint8Array, keys: KeyRing): Exclude<SampleVerdict, { kind: 'proof' }> {
  const { survivors, nearMisses, samples } = detectScheme(body, keys);
  const [sample] = samples;
  const [doubt] = [
    ...(sample?.status === 'too-large' ? [sample.message] : []),
    ...nearMisses.filter(({ code }) => code !== 'forged').map(({ message }) => message),
    ...(survivors.length > 0 ? ['It fits another scheme.'] : []),
  ];
  if (doubt !== undefined) return { kind: 'doubt', reason: doubt };
  const isSigned = sample?.status === 'usable';
  const flaw = isSigned ? 'It is signed with none of your keys.' : sample?.message;
  return { kind: 'stray', reason: nearMisses[0]?.message ?? flaw ?? '', isSigned };
}
