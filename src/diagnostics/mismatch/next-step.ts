import type { MismatchFinding, MismatchFindingCode } from './mismatch-explanation.ts';

/** What to do about the first of the findings. */
export function nextStepAfter([first]: readonly MismatchFinding[]): string {
  return nextSteps[first?.code ?? 'nothing-fits'];
}

const changeScheme =
  'Confirm with detectScheme on several bodies, set the scheme in defineDeployment({ signature }), and pin it with pinScheme.';
const changeKey = 'Use that key in verification; during a rotation give the old and the new credentials.';
const mendSecret = 'Mend the secret where it is configured, then verify again.';
const takeRaw =
  'Verify the raw bytes as received, before any body parser (express.raw, request.text() or the like).';
const captureBody = 'Capture the raw body of a delivery, complete and with its signature, and explain that.';
const askService = 'Have the service sign probeBody() or name its rule; there is no setting for this.';

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
  'white-space-around':
    'Take the raw bytes of the request, not a file or a log that an editor or a shell has ended with a line break.',
  'secret-padded': mendSecret,
  'secrets-swapped': mendSecret,
  'secret-with-newline': 'Ask the service to trim its copy of the secret, or to issue new keys.',
  'secret-with-blank': 'Ask the service to trim its copy of the secret, or to issue new keys.',
  'secret-without-prefix': 'Sign and verify with the key without its prefixes (signBody and verifyBody).',
  'key-for-orders': 'Verify with the key for orders: signingKey(credentials, "order").',
  'signature-in-body': askService,
  'stringified-twice': askService,
  'newline-signed': takeRaw,
  'numbers-respelled': askService,
  'other-spelling': takeRaw,
  'body-reserialized': takeRaw,
  'nothing-fits':
    'Check that the keys are those of this deployment and partner and that the body is raw; then try detectScheme on several bodies, or detectFromOracle. A body that stays unexplained is a forgery.',
};
