import type { KeyRing } from '../../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import type { SigningPurpose } from '../../../credentials/signing-key.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import type { DetectionSecrets, NearMissCode, SampleStatus } from '../detection/detection.ts';
import type { Deviation } from './find-deviations.ts';

/** Options of {@link explainMismatch}. */
export interface ExplainOptions {
  /**
   * The keys that failed verification first, then others that may have signed: generations, partners. A key ring
   * needs `await ring.reload()` first.
   */
  credentials?: PartnerCredentials | readonly PartnerCredentials[] | KeyRing | undefined;
  /** The keys as plain texts, which may be padded, swapped or incomplete. Replaces `credentials`. */
  secrets?: DetectionSecrets | undefined;
  /** The scheme that failed verification. @default `defaultScheme` */
  scheme?: SignatureScheme | undefined;
  /** The used key: the one for orders, or the partner secret. @default 'order' */
  purpose?: SigningPurpose | undefined;
  /** Which of `merchantSecretKeys` was used. @default the first */
  merchant?: string | undefined;
}

/**
 * Why a signature does not match, for a developer's terminal: plain data without secrets, signatures or values of
 * the body. It does not decide whether a body can be trusted: only `verifyBody` does.
 */
export interface MismatchExplanation {
  /** The most telling first; never empty. */
  readonly findings: readonly MismatchFinding[];
  /** Where the body's text differs from `JSON.stringify(JSON.parse(text))`. */
  readonly deviations: readonly Deviation[];
  /** What to do next. */
  readonly nextStep: string;
}

/** One reason why a signature does not match. */
export interface MismatchFinding {
  /** Stable: branch on it. */
  readonly code: MismatchFindingCode;
  /** The reason, as a sentence without secrets. */
  readonly message: string;
}

/**
 * The state of a body that cannot be examined (`no-signature`, `not-json`, …), a near miss (`secret-padded`,
 * `other-spelling`, …), or:
 *
 * - `no-secret`: there is no secret to try.
 * - `no-mismatch`: the signature matches with this key and scheme.
 * - `other-key`: another given key.
 * - `other-construction`, `other-separator`, `other-serialization`, `other-joiner`, `other-encoding`: another
 *   scheme.
 * - `key-order`: the parts of the key in the other order.
 * - `other-key-material`, `other-key-separator`: another key for orders.
 * - `body-reserialized`: a framework probably wrote the body again.
 * - `nothing-fits`: no known scheme with any of the keys: another secret, or a changed body.
 */
export type MismatchFindingCode =
  | Exclude<SampleStatus, 'usable' | 'not-examined'>
  | NearMissCode
  | 'no-secret'
  | 'no-mismatch'
  | 'other-key'
  | 'other-construction'
  | 'other-separator'
  | 'other-serialization'
  | 'other-joiner'
  | 'other-encoding'
  | 'key-order'
  | 'other-key-material'
  | 'other-key-separator'
  | 'body-reserialized'
  | 'nothing-fits';

/** What to do about the first finding. */
export function nextStepAfter([first]: readonly MismatchFinding[]): string {
  return nextSteps[first?.code ?? 'nothing-fits'];
}

const changeScheme =
  'Confirm with detectScheme on several bodies, set signature of defineDeployment, and pin it with pinScheme.';
const changeKey = 'Use that key in verification; during a rotation give the old and the new credentials.';
const mendSecret = 'Mend the secret where it is configured, then verify again.';
const takeRaw =
  'Verify the raw bytes as received, before any body parser (express.raw, request.text() or the like).';
const captureBody = 'Capture the raw body of a delivery, complete and with its signature, and explain that.';
const askService = 'Have the service sign a probe or name its rule; there is no setting for this.';

const nextSteps: Readonly<Record<MismatchFindingCode, string>> = {
  'not-raw': takeRaw,
  'too-large': 'Explain a body of at most 64 KiB: one that is signed alike has the same cause.',
  'not-utf8': takeRaw,
  'not-json': captureBody,
  'not-object': captureBody,
  'no-signature':
    'Check that this is a signed body: every event carries a signature member (Authentication 4).',
  'duplicate-signature': 'Refuse it: no serializer writes two signatures.',
  'unreadable-signature':
    'Ask the service how it writes signatures; a proxy that edits bodies may also have cut it.',
  'no-secret': 'Give credentials or secrets.',
  'no-mismatch': 'Compare the key and the scheme that your verification uses with those given here.',
  'other-key': changeKey,
  'other-construction': changeScheme,
  'other-separator': changeScheme,
  'other-serialization': changeScheme,
  'other-joiner': changeScheme,
  'other-encoding': changeScheme,
  'key-order': changeScheme,
  'other-key-material': changeScheme,
  'other-key-separator': changeScheme,
  forged:
    'Refuse it, and never verify with the public key. If the service itself sent it, have it sign with the secrets: until then anybody can send the same.',
  'secret-padded': mendSecret,
  'secrets-swapped': mendSecret,
  'secret-with-newline': 'Ask the service to trim its copy of the secret, or to issue new keys.',
  'secret-with-blank': 'Ask the service to trim its copy of the secret, or to issue new keys.',
  'secret-without-prefix': 'Sign and verify with the key without its prefixes.',
  'key-for-orders': 'Verify with the key for orders: purpose "order".',
  'signature-in-body': askService,
  'stringified-twice': askService,
  'nested-unsigned':
    'Ask the service to sign the whole body. Until then refuse it: nobody can tell who wrote the nested members.',
  'newline-signed': takeRaw,
  'numbers-respelled': askService,
  'other-spelling': takeRaw,
  'body-reserialized': takeRaw,
  'nothing-fits':
    'Check that the keys are those of this deployment and partner and that the body is raw; then try detectScheme on several bodies, or have a probe signed. Nothing says who signed a body that stays unexplained: refuse it, and ask the service for the text that it signed.',
};
