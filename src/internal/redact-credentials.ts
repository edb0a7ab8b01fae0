export const hidden = '[redacted]';

/** Names of headers, members and options whose values may hold blanks. */
const textNames = 'authorization|cookie|credential|pass(?:code|phrase|w)|pwd|secret';
/** Names whose values are one word. */
const wordNames = 'auth(?!or\\b)|session|signature|token|(?:access|api|master|private|public).?key|[_-]key';

/** Matches one of the names, with its quotes and separator: `x-api-key: `, `"password": `, `\"token\":`. */
const named = (names: string, separators: string) =>
  `(?:${names})[\\w-]{0,40}(?:\\\\*["'])?\\s{0,8}${separators}\\s{0,8}`;

/** Keys by their prefixes (contract: Partner credentials; `API-X-` is reported). */
const prefixedKey = /\b(?:[ps]k_(?:partner|merchant)_|API-X-)[\w-]+/g;

/** Each pattern keeps its first group and hides the rest. */
const credentials = [
  // User and password in a URL.
  /(\/\/)[^\s/]*(?=@)/g,
  // Query values.
  /([?&][\w.-]{1,64}=)[^\s&#"']+/g,
  // Quoted values: `"x-api-key":"xyz"`, `\"password\": \"xyz\"`, `['cookie', 'xyz']`.
  new RegExp(`(${named(`${textNames}|${wordNames}`, '[:=,]')}(\\\\*["'])).*?(?=(?<!\\\\)\\2|$)`, 'gim'),
  // Values without quotes: `authorization: xyz`, to the end of the line or of the word.
  new RegExp(`(${named(textNames, '[:=]')})[^\\s"'\\\\[{(].*`, 'gi'),
  new RegExp(`(${named(wordNames, '[:=]')})[^\\s"'\\\\[{(,;]+`, 'gi'),
  // The value of a header without its name.
  /(\b(?:Basic|Bearer)\s+)[^\s"'[]+/gi,
  new RegExp(`()${prefixedKey.source}`, 'g'),
  // Anything as long as a signature.
  /()(?:\b[0-9a-f]{96,}\b|[A-Za-z0-9+/]{86}==|\b[\w-]{86,})/gi,
];

/** Whether a text holds a key, by its prefix. */
export function holdsKey(text: string): boolean {
  return text.search(prefixedKey) !== -1;
}

/**
 * Hides everything that looks like a credential, in foreign texts whose secrets are unknown: rather too much than too
 * little.
 */
export function redactCredentials(text: string): string {
  return credentials.reduce((shown, pattern) => shown.replace(pattern, `$1${hidden}`), text);
}
