import { hidden } from './redact-credentials.ts';

/** Answers whether a foreign text repeats a secret: as it is, JSON-escaped, percent-encoded or in base64. */
export function repeatsOf(secrets: readonly string[]): (text: string) => boolean {
  const forms = [...new Set(secrets.filter((secret) => secret !== '').flatMap(allForms))];
  return (text) => forms.some((form) => text.includes(form));
}

function allForms(secret: string): string[] {
  return [...writtenForms(secret), ...base64Forms(secret)];
}

/** As it is, in a JSON string, in a URL, and as `URLSearchParams` writes it. */
export function writtenForms(secret: string): string[] {
  const query = new URLSearchParams({ '': secret }).toString().slice(1);
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed()), query];
}

/** A secret within a longer text, such as a password of Basic authorization, can begin at three offsets. */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  if (bytes.length < shortestEncoded) return [];
  // Only the characters that depend on the secret alone.
  return [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6)),
  );
}

/** Less would be found by chance. */
const shortestEncoded = 6;

/** Clears a parsed reply at any depth. A number whose text is changed becomes that text. */
export function redactReply(value: unknown, redact: (text: string) => string, depth = 0): unknown {
  if (depth > maxDepth) return hidden;
  if (typeof value === 'string') return redact(value);
  if (typeof value === 'number') return redact(String(value)) === String(value) ? value : hidden;
  if (Array.isArray(value)) return value.map((item) => redactReply(item, redact, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, member]) => [redact(name), redactReply(member, redact, depth + 1)]),
  );
}

const maxDepth = 50;
