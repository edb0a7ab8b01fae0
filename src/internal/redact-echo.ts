import { latinDigits } from './latin-digits.ts';
import { hidden } from './redact-credentials.ts';

/** Reads no more of a hostile text. */
const maxRead = 16_384;
/** Removed at the end of a longer text: half a secret would not be found. */
const cutEnd = 2_048;
/** A longer secret, such as a whole message, is searched for only as it is. */
const maxEncoded = 1_000;
/** Escapes inside escapes that are undone. */
const maxDecodings = 3;

/**
 * Hides a request's secrets in foreign texts, in any spelling: in other case, in base64, percent- or entity-encoded,
 * with invisible characters between. Numbers are found by their last seven digits, in any script and with anything
 * between them; people's names as words in any case. Takes linear time, and keeps only the beginning of a long text.
 */
export function echoRedactor(
  secrets: readonly string[],
  names: readonly string[] = [],
): (text: unknown) => string {
  const find = echoFinder(secrets, names);
  return (text) => {
    const whole = String(text ?? '');
    const read = whole.slice(0, maxRead);
    return hideSpans(read, find(read), whole.length > maxRead ? maxRead - cutEnd : read.length);
  };
}

/** Finds where a text of any length repeats a request's secrets: as {@link echoRedactor}, part by part. */
export function echoFinder(
  secrets: readonly string[],
  names: readonly string[] = [],
): (text: string) => EchoSpan[] {
  const find = partFinder(secrets, names);
  return (text) => {
    if (text.length <= maxRead) return find(text);
    const found: EchoSpan[] = [];
    // The parts overlap: half a secret would not be found.
    for (let start = 0; start < text.length; start += maxRead - cutEnd) {
      const spans = find(text.slice(start, start + maxRead));
      found.push(...spans.map((span) => ({ start: span.start + start, end: span.end + start })));
    }
    return found;
  };
}

function partFinder(secrets: readonly string[], names: readonly string[]): (part: string) => EchoSpan[] {
  const people = [...new Set(names.map((name) => plain(name).toLowerCase()))];
  const given = [...new Set(secrets.filter((secret) => secret !== ''))];
  const forms = [...new Set(given.flatMap(writtenForms))];
  const words = forms.filter(isWord).map(plain);
  const folded = forms.filter((form) => !isWord(form)).map((form) => plain(form).toLowerCase());
  const encoded = [...new Set(given.flatMap(base64Forms))];
  const numbers = [...new Set(given.map(digitsOf))].filter((digits) => digits.length >= 5);

  return (part) => {
    const spans: EchoSpan[] = [];
    for (const view of viewsOf(part)) {
      const lower = view.text.toLowerCase();
      const add = (found: EchoSpan) => spans.push(view.toSource(found));
      for (const needle of words) findText(view.text, needle, add);
      for (const needle of folded) findText(lower, needle, add);
      for (const needle of people)
        findText(lower, needle, (found) => isWholeWord(lower, found) && add(found));
      if (encoded.length > 0) {
        const urlSafe = lower.replaceAll('+', '-').replaceAll('/', '_');
        for (const needle of encoded) findText(urlSafe, needle, add);
      }
      if (numbers.length > 0) findNumbers(view.text, numbers, add);
    }
    return spans;
  };
}

export function redactEcho(text: unknown, secrets: readonly string[]): string {
  return echoRedactor(secrets)(text);
}

/** Clears a parsed reply at any depth. A number that holds a secret becomes a text. */
export function redactReply(
  value: unknown,
  redact: (text: unknown) => string,
  { isHidden = () => false, depth = 0 }: ReplyRedaction = {},
): unknown {
  if (depth > maxDepth) return hidden;
  if (typeof value === 'string') return redact(value);
  if (typeof value === 'number') return redact(value) === String(value) ? value : hidden;
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

/** A part of a text. */
export interface EchoSpan {
  readonly start: number;
  readonly end: number;
}

/** A text, and which part of the source each of its parts came from. */
interface View {
  readonly text: string;
  toSource(found: EchoSpan): EchoSpan;
}

const sourceView = (text: string): View => ({ text, toSource: (found) => found });

/** The text in plain characters, then with one more layer of escapes undone each time. */
function viewsOf(source: string): View[] {
  const views = [rewrite(sourceView(source), beyondAscii, plain)];
  for (let layer = 0; layer < maxDecodings; layer++) {
    const last = views.at(-1) ?? sourceView(source);
    const next = rewrite(last, escapes, (escaped) => plain(decode(escaped)));
    if (next === last) break;
    views.push(next);
  }
  return views;
}

const beyondAscii = /[^\0-\x7f]/gu;

/** Escapes of one character: in URLs, HTML and XML, and strings of JSON and JavaScript. */
const escapes =
  /%(?:[0-7][\da-f]|[c-f][\da-f](?:%[89ab][\da-f]){1,3})|&(?:#x[\da-f]{1,6}|#\d{1,7}|[a-z]{2,8});|\\(?:u[\da-f]{4}|u\{[\da-f]{1,6}\}|x[\da-f]{2}|[^ux])/giu;

const entities: Readonly<Record<string, string>> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };

function decode(escaped: string): string {
  if (escaped.startsWith('%')) {
    try {
      return decodeURIComponent(escaped);
    } catch {
      return escaped;
    }
  }
  if (escaped.startsWith('&#')) {
    const isHex = /^&#x/i.test(escaped);
    return characterOf(escaped.slice(isHex ? 3 : 2, -1), isHex ? 16 : 10);
  }
  // Other named entities (`&nbsp;`) are no part of a secret.
  if (escaped.startsWith('&')) return entities[escaped.slice(1, -1).toLowerCase()] ?? ' ';
  if (/^\\[ux]/i.test(escaped)) return characterOf(escaped.replace(/[^\da-f]/gi, ''), 16);
  return /[bfnrt]/.test(escaped) ? ' ' : escaped.slice(1);
}

function characterOf(digits: string, radix: number): string {
  const codePoint = Number.parseInt(digits, radix);
  return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : '';
}

function rewrite(from: View, pattern: RegExp, replacement: (match: string) => string): View {
  /** Where each replacement begins and ends, and what it replaced. */
  const changes: { start: number; end: number; from: EchoSpan }[] = [];
  let text = '';
  let copied = 0;
  for (const match of from.text.matchAll(pattern)) {
    const [found] = match;
    const put = replacement(found);
    if (put === found) continue;
    text += from.text.slice(copied, match.index);
    copied = match.index + found.length;
    changes.push({
      start: text.length,
      end: text.length + put.length,
      from: { start: match.index, end: copied },
    });
    text += put;
  }
  if (changes.length === 0) return from;
  text += from.text.slice(copied);

  const changeAt = (place: number) => {
    let [low, high] = [0, changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((changes[middle]?.start ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return changes[low - 1];
  };
  const sourceOf = (place: number): EchoSpan => {
    const change = changeAt(place);
    if (change === undefined) return { start: place, end: place + 1 };
    if (place < change.end) return change.from;
    const start = change.from.end + place - change.end;
    return { start, end: start + 1 };
  };
  return {
    text,
    toSource: ({ start, end }) => from.toSource({ start: sourceOf(start).start, end: sourceOf(end - 1).end }),
  };
}

const plainCharacters = new Map<string, string>();

/** Plain digits and letters, without invisible characters. */
function plain(text: string): string {
  return text.replace(beyondAscii, (character) => {
    const known = plainCharacters.get(character);
    if (known !== undefined) return known;
    const simple = latinDigits(character.toWellFormed());
    const lower = simple.toLowerCase();
    // A view in lower case must be as long as the view.
    const made = lower.length === simple.length ? simple : lower;
    if (plainCharacters.size < 10_000) plainCharacters.set(character, made);
    return made;
  });
}

/** A secret that is an ordinary word is not hidden in other case: the `not` in `Do NOT answer`. */
function isWord(form: string): boolean {
  return form.length < 12 && /^\p{L}+$/u.test(form);
}

function isWholeWord(text: string, { start, end }: EchoSpan): boolean {
  return (
    !/\p{L}$/u.test(text.slice(Math.max(0, start - 2), start)) && !/^\p{L}/u.test(text.slice(end, end + 2))
  );
}

/** Lower case, url-safe; within a longer text a secret can begin at three offsets. */
function base64Forms(secret: string): string[] {
  if (secret.length < 8 || secret.length > maxEncoded) return [];
  const bytes = new TextEncoder().encode(secret);
  const forms = [0, 1, 2].map((offset) => {
    const text = btoa(String.fromCharCode(...new Uint8Array(offset), ...bytes));
    // Only the characters that depend on the secret alone.
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const whole = btoa(String.fromCharCode(...bytes)).replace(/=+$/, '');
  return [whole, ...forms].map((form) => form.toLowerCase().replaceAll('+', '-').replaceAll('/', '_'));
}

/** Digits of a phone number or a code, nothing of any other secret. */
function digitsOf(secret: string): string {
  if (secret.length > 40) return '';
  const text = plain(secret);
  return text.replace(/[^a-z]/gi, '').length > 2 ? '' : text.replace(/\D/g, '');
}

function findText(text: string, needle: string, add: (found: EchoSpan) => void): void {
  if (needle === '') return;
  for (let start = text.indexOf(needle); start !== -1; start = text.indexOf(needle, start + needle.length)) {
    add({ start, end: start + needle.length });
  }
}

/** They identify a number without country and area. */
const tellingDigits = 7;

function findNumbers(text: string, numbers: readonly string[], add: (found: EchoSpan) => void): void {
  const places = [...text.matchAll(/\d/g)].map(({ index }) => index);
  const digits = places.map((place) => text[place]).join('');
  for (const number of numbers) {
    const tail = number.slice(-tellingDigits);
    findText(digits, tail, ({ start, end }) => {
      let first = start;
      let before = number.length - tail.length;
      while (first > 0 && before > 0 && digits[first - 1] === number[before - 1]) {
        first--;
        before--;
      }
      add({ start: places[first] ?? 0, end: (places[end - 1] ?? 0) + 1 });
    });
  }
}

/** @param end where the text is cut */
export function hideSpans(text: string, spans: readonly EchoSpan[], end = text.length): string {
  const inOrder = [...spans].sort((one, other) => one.start - other.start);
  let shown = '';
  let done = 0;
  for (const span of inOrder) {
    if (span.start >= end) break;
    if (span.start > done || done === 0) shown += text.slice(done, span.start) + hidden;
    done = Math.max(done, span.end);
  }
  return shown + text.slice(done, Math.max(done, end));
}

/** As it is, in a JSON string, in a URL, and as `URLSearchParams` writes it. */
export function writtenForms(secret: string): string[] {
  const query = new URLSearchParams({ '': secret }).toString().slice(1);
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed()), query];
}
