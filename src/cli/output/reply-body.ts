import { printableText } from '../../redaction/printable-text.ts';
import { hidden, redactCredentials } from '../../redaction/redact-credentials.ts';

/** Members of a reply that may hold a credential, whatever the service calls them. */
const secretName = /auth|cookie|credential|key|link|pass|pwd|secret|session|token/i;

/** A reply's body as it may be shown: nobody documents what is in it. */
export function shownBody(body: unknown, depth = 0): unknown {
  if (typeof body === 'string') return redactCredentials(body);
  if (typeof body !== 'object' || body === null) return body;
  if (depth > 32) return hidden;
  if (Array.isArray(body)) return body.map((item) => shownBody(item, depth + 1));
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      secretName.test(name) && value !== null && typeof value !== 'boolean'
        ? hidden
        : shownBody(value, depth + 1),
    ]),
  );
}

/** A reply's body in one line. */
export function bodyLine(body: unknown): string {
  if (body === undefined) return 'nothing';
  return printableText(JSON.stringify(shownBody(body))).slice(0, 2_000);
}
