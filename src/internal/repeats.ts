import { latinDigits } from './printable-text.ts';
import { hidden } from './redact-credentials.ts';

/** Layers of escapes that are undone: `%2525` has three. */
const maxLayers = 4;

/**
 * Answers whether a foreign text repeats a secret, in any spelling: in other case, in other Unicode forms, in base64 or
 * hex, in the escapes of JSON, URLs and HTML, with invisible characters between. A number counts by its last seven
 * digits, in any script and with anything between them. Takes time in proportion to the text.
 *
 * A secret that is an ordinary word is found in its own case only: a code `NOT` is not the `not` of a sentence.
 *
 * @param names names of people, which are found as whole words in any case
 */
export function repeatsOf(
  secrets: readonly string[],
  names: readonly string[] = [],
): (text: string) => boolean {
  const forms = [...new Set(secrets.filter((secret) => secret !== '').flatMap(writtenForms))];
  const words = forms.filter(isWord).map(plain);
  const others = forms.filter((form) => !isWord(form)).map((form) => plain(form).toUpperCase());
  const encoded = [...new Set(forms.flatMap(encodedForms))];
  const numbers = secrets.map(tellingDigits).filter((digits) => digits !== '');
  const people = names.filter(isWord).map((name) => inWords(plain(name)));

  return (text) => {
    for (const view of viewsOf(text)) {
      // Upper case, since lower case depends on the neighbours: a Greek word ends in another sigma.
      const upper = view.toUpperCase();
      if (words.some((word) => view.includes(word)) || others.some((form) => upper.includes(form)))
        return true;
      if (encoded.length > 0 && includesAny(urlSafe(upper), encoded)) return true;
      if (numbers.length > 0 && includesAny(view.replace(/\D+/g, ''), numbers)) return true;
      if (people.length > 0 && includesAny(inWords(upper), people)) return true;
    }
    return false;
  };
}

function includesAny(text: string, needles: readonly string[]): boolean {
  return needles.some((needle) => text.includes(needle));
}

/** Clears a parsed reply at any depth. A number whose text is changed becomes that text. */
export function redactReply(
  value: unknown,
  redact: (text: string) => string,
  { isHidden = () => false, depth = 0 }: ReplyRedaction = {},
): unknown {
  if (depth > maxDepth) return hidden;
  if (typeof value === 'string') return redact(value);
  if (typeof value === 'number') return redact(String(value)) === String(value) ? value : hidden;
  const inside = { isHidden, depth: depth + 1 };
  if (Array.isArray(value)) return value.map((item) => redactReply(item, redact, inside));
  if (typeof value !== 'object' || value === null) return value;
  if (isHidden(value)) return hidden;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, member]) => [redact(name), redactReply(member, redact, inside)]),
  );
}

const maxDepth = 50;

interface ReplyRedaction {
  /** Objects to hide whole. */
  readonly isHidden?: (value: object) => boolean;
  readonly depth?: number;
}

/** As it is, in a JSON string, in a URL, and as `URLSearchParams` writes it. */
export function writtenForms(secret: string): string[] {
  const query = new URLSearchParams({ '': secret }).toString().slice(1);
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed()), query];
}

/** The text in plain characters, then with one more layer of escapes undone each time. */
function* viewsOf(text: string): Generator<string> {
  let view = plain(text);
  yield view;
  for (let layer = 0; layer < maxLayers; layer++) {
    const next = plain(view.replace(escapes, unescaped));
    if (next === view) return;
    view = next;
    yield view;
  }
}

/** Escapes of one character: in URLs, HTML and XML, and strings of JSON and JavaScript. */
const escapes =
  /%(?:[0-7][\da-f]|[c-f][\da-f](?:%[89ab][\da-f]){1,3})|&(?:#x[\da-f]{1,6}|#\d{1,7}|[a-z]{2,8});|\\(?:u[\da-f]{4}|u\{[\da-f]{1,6}\}|x[\da-f]{2}|[^ux])/giu;

const entities: Readonly<Record<string, string>> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };
const controls: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescaped(sequence: string): string {
  if (sequence.startsWith('%')) {
    try {
      return decodeURIComponent(sequence);
    } catch {
      return sequence;
    }
  }
  if (sequence.startsWith('&#')) {
    const isHex = /^&#x/i.test(sequence);
    return characterOf(sequence.slice(isHex ? 3 : 2, -1), isHex ? 16 : 10);
  }
  // Other named entities (`&nbsp;`) are no part of a secret.
  if (sequence.startsWith('&')) return entities[sequence.slice(1, -1).toLowerCase()] ?? ' ';
  if (/^\\[ux]/i.test(sequence)) return characterOf(sequence.replace(/[^\da-f]/gi, ''), 16);
  return controls[sequence.slice(1)] ?? sequence.slice(1);
}

function characterOf(digits: string, radix: number): string {
  const codePoint = Number.parseInt(digits, radix);
  return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : '';
}

/**
 * Plain digits and letters, without accents and invisible characters. One character at a time: to put the accents of a
 * hostile text into their order would take quadratic time.
 */
function plain(text: string): string {
  const known = new Map<string, string>();
  return text.replace(/[^\0-\x7f]/gu, (character) => {
    let made = known.get(character);
    if (made === undefined) {
      made = latinDigits(character)
        .normalize('NFKD')
        .replace(/[\u0300-\u036f]/g, '');
      known.set(character, made);
    }
    return made;
  });
}

function isWord(form: string): boolean {
  return form.length < 12 && /^\p{L}+$/u.test(form);
}

/** The words of a text in upper case, each between two blanks. */
function inWords(text: string): string {
  return ` ${text.toUpperCase().replace(/\P{L}+/gu, ' ')} `;
}

/** In base64, where a secret within a longer text can begin at three offsets, and in hex. */
function encodedForms(form: string): string[] {
  const bytes = Buffer.from(form);
  if (bytes.length < shortestEncoded) return [];
  // Only the characters that depend on the secret alone.
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6)),
  );
  return [bytes.toString('hex'), ...base64].map((text) => urlSafe(text.toUpperCase()));
}

/** Less would be found by chance. */
const shortestEncoded = 6;

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}

/** The last digits of a phone number or a code, which identify it without country and area; of another secret none. */
function tellingDigits(secret: string): string {
  const text = plain(secret);
  if (text.length > 40 || text.replace(/[^a-z]/gi, '').length > 2) return '';
  const digits = text.replace(/\D/g, '');
  return digits.length < 5 ? '' : digits.slice(-7);
}
