import type { Finding, Verdict } from '../finding.ts';

/** A finding about the signature of one body. */
export type SignatureFinding = Finding<SignatureFindingId>;

/**
 * A body that cannot be examined:
 *
 * - `not-raw`: neither text nor bytes, e.g. a parsed object.
 * - `too-large`: longer than 64 KiB.
 * - `not-utf8`, `not-json`, `not-object`, `no-signature`, `duplicate-signature`: as in verification.
 * - `unreadable-signature`: not text, or no SHA-512 digest in any known encoding.
 * - `no-secret`: there is no secret to try.
 *
 * A body that one of the keys signed:
 *
 * - `no-mismatch`: with this key and scheme.
 * - `other-key`: another given key.
 * - `other-construction`, `other-separator`, `other-serialization`, `other-joiner`, `other-encoding`: another scheme.
 * - `key-order`: the parts of the key in the other order.
 * - `other-key-material`, `other-key-separator`: another key for orders.
 *
 * A body that would fit if one thing were different:
 *
 * - `forged`: signed with the public key alone or without a key, as anybody can.
 * - `secret-padded`: fits when the given secret is trimmed.
 * - `key-for-orders`: a general request is signed with the key for orders, or with a merchant secret.
 * - `stringified-twice`: the JSON text became a JSON string before it was signed.
 * - `newline-signed`: a line break after the body was signed.
 * - `other-spelling`: another spelling of the same body was signed.
 *
 * And of a body that nothing fits:
 *
 * - `nothing-fits`: another secret, or a changed body.
 * - `body-reserialized`: a framework probably wrote the body again.
 *
 * @inline
 */
export type SignatureFindingId = keyof typeof advice;

export function signatureFinding(id: SignatureFindingId, what: string): SignatureFinding {
  return { id, verdict: verdicts[id] ?? 'broken', what, advice: advice[id] };
}

const verdicts: Readonly<Partial<Record<SignatureFindingId, Verdict>>> = {
  'no-mismatch': 'ok',
  'no-secret': 'skipped',
  'too-large': 'skipped',
};

const changeScheme =
  'Confirm with learn on several bodies, and set signature of defineDeployment or keep the deployment file.';
const takeRaw =
  'Verify the raw bytes as received, before any body parser (express.raw, request.text() or the like).';
const captureBody = 'Capture the raw body of a delivery, complete and with its signature, and examine that.';

const advice = {
  'not-raw': takeRaw,
  'too-large': 'Examine a body of at most 64 KiB: one that is signed alike has the same cause.',
  'not-utf8': takeRaw,
  'not-json': captureBody,
  'not-object': captureBody,
  'no-signature':
    'Check that this is a signed body: every event carries a signature member (Authentication 4).',
  'duplicate-signature': 'Refuse it: no serializer writes two signatures.',
  'unreadable-signature':
    'Ask the service how it writes signatures; a proxy that edits bodies may also have cut it.',
  'no-secret': 'Give credentials.',
  'no-mismatch': 'Compare the key and the scheme that your verification uses with those given here.',
  'other-key': 'Use that key in verification; during a rotation give the old and the new credentials.',
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
  'secret-padded': 'Mend the secret where it is configured, then verify again.',
  'key-for-orders': 'Verify with the key for orders: purpose "order".',
  'stringified-twice': 'Ask the service to name its rule; there is no setting for this.',
  'newline-signed': takeRaw,
  'other-spelling': takeRaw,
  'body-reserialized': takeRaw,
  'nothing-fits':
    'Check that the keys are those of this deployment and partner and that the body is raw. Refuse a body that stays unexplained, and ask the service for the text that it signed.',
} as const satisfies Readonly<Record<string, string>>;
