import { isAccepted, type PostAnswer } from '../post-request.ts';
import { type ProbeRequest, type Probes, probeMarker } from './probes.ts';

export type Disclosure = 'signature' | 'key' | 'body' | 'internals';

/** Stack traces, and source files with a line number, of common languages. */
const internals =
  /\n\s+at \S.*:\d+|Traceback \(most recent call last\)|\.(?:[cm]?[jt]s|py|rb|php|go|java|cs|ex)(?::\d+|\(\d+\)|", line \d+| on line \d+)/;

export type Disclosures = ReturnType<typeof watchDisclosures>;

/** Collects the disclosures of all answers. */
export function watchDisclosures(probes: Probes, secrets: readonly string[]) {
  const found = new Set<Disclosure>();
  return {
    inspect({ body }: ProbeRequest, answer: PostAnswer) {
      if (answer.kind !== 'answered') return;
      const { text = '', headers } = answer;
      const answerText = [text, ...headers.values()].join('\n');
      if (secrets.some((secret) => answerText.includes(secret))) found.add('key');
      if (isAccepted(answer)) return;
      if (internals.test(text)) found.add('internals');
      if (answerText.includes(probeMarker)) found.add('body');
      if (body !== undefined && showsSignature(body, answerText)) found.add('signature');
    },
    has: (disclosure: Disclosure) => found.has(disclosure),
  };

  /** Finds it in any encoding, unless the body itself had it. */
  function showsSignature(body: string | Uint8Array, answerText: string): boolean {
    const right = probes.rightSignatureOf(body);
    if (right === undefined) return false;
    const sent = typeof body === 'string' ? body : new TextDecoder().decode(body);
    return spellings(right, probes.scheme.encoding).some(
      (spelling) => answerText.includes(spelling) && !sent.includes(spelling),
    );
  }
}

/** A quarter of the signature suggests that the rest can be obtained. */
function spellings(signature: string, encoding: Probes['scheme']['encoding']): string[] {
  const isHex = encoding === 'hex' || encoding === 'hex-upper';
  const bytes = isHex ? Buffer.from(signature, 'hex') : Buffer.from(signature, 'base64');
  const hex = bytes.toString('hex');
  const base64 = bytes.toString('base64');
  return [signature, hex, hex.toUpperCase(), base64, bytes.toString('base64url')].map((spelling) =>
    spelling.slice(0, 32),
  );
}
