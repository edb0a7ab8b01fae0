export const hidden = '[redacted]';

/** Names of headers, members and options whose values may hold blanks. */
const textNames = 'authorization|cookie|credential|pass(?:code|phrase|w)|pwd|secret';
/** Names whose values are one word. */
const wordNames = 'auth(?!or\\b)|session|signature|token|(?:access|api|master|private|public).?key|[_-]key';

/** Matches one of the names, with its quotes and separator: `x-api-key: `, `"password": `, `\"token\":`. */
const named = (names: string, separators: string) =>
  `(?:${names})[\\w-]{0,40}(?:\\\\*["'])?\\s{0,8}${separators}\\s{0,8}`;

/** Keys by their prefixes (contract: Partner credentials; `API-X-` is reported). */
const prefixedKey = /\b(?:[ps]k_(?:partner|merchant)_|API-X-)[\w-]+/gi;

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
  new RegExp(`()${prefixedKey.source}`, 'gi'),
  // Anything as long as a signature.
  /()(?:\b[0-9a-f]{96,}\b|[A-Za-z0-9+/]{86}==|\b[\w-]{86,})/gi,
];

/** Whether a text holds a key, by its prefix. */
export function holdsKey(text: string): boolean {
  return text.search(prefixedKey) !== -1;
}

/** Hides everything that looks like a credential, in foreign texts whose secrets are unknown: rather too much. */
export function redactCredentials(text: string): string {
  return credentials.reduce((shown, pattern) => shown.replace(pattern, `$1${hidden}`), text);
}

/** A foreign text as it may be quoted: hidden whole where no pattern tells reliably how far a secret reaches. */
export function redactQuote(text: string): string {
  return holdsSecret(text) ? hidden : redactCredentials(text);
}

function holdsSecret(text: string): boolean {
  const plain = separators.reduce((shown, [written, separator]) => shown.replace(written, separator), text);
  return secrets.some((pattern) => pattern.test(plain));
}

/** As JSON, URLs and HTML write them. */
const separators = [
  [/\\{1,8}\/|%2f|&(?:#47|#x2f|sol);/gi, '/'],
  [/%3a|&(?:#58|#x3a|colon);/gi, ':'],
  [/%40|&(?:#64|#x40|commat);/gi, '@'],
] as const;

/** Words behind "the key is" that are no key. */
const verdicts =
  'absent|accepted|active|already|being|blocked|correct|created|denied|disabled|empty|expired|generated|inactive|incorrect|invalid|limited|locked|malformed|missing|neither|rejected|required|revoked|suspended|unknown|unrecogni[sz]ed|wrong';

const secrets = [
  // A password in an address: `amqp://app:a/b@queue`, `user:pass@host`; not a version in the path of a file.
  /(?<!\bfile):\/\/(?:[^\s/@]{1,200}|[^\s@:]{0,200}:[^\s@]{1,200})@/i,
  /(?<![\w.+:-])(?!(?:e-?mail|mailto|to|from|cc|npm|node):)[^\s:@/"'<>,{}()[\]]{1,64}:(?![\\/])[^\s@"'<>,{}]{1,200}@[\w[]/i,
  // A link of one time: by a name in its path, or by a token at its end.
  /\/[\w-]{0,40}(?:reset|one-?time|invit|activat|magic|recover|confirm|set-?up)[\w-]{0,40}[/?#=][^\s/]/i,
  /https?:\/\/[^\s"'<>]{1,300}[/=#](?=[\w-]{0,200}\d)(?=[\w-]{0,200}[a-z])[\w-]{20,}/i,
  // "Your secret key is k3y…"
  new RegExp(
    `\\b(?:key|secret|token|password|passphrase)s?["']?(?:\\s{1,8}(?:is|are|now)\\b|\\s{0,8}[:=])+\\s{0,8}["']?(?!(?:${verdicts})\\b)[\\w+/=.-]{6,}`,
    'i',
  ),
];
