import type { SigningPurpose } from '../../../credentials/signing-key.ts';
import { jsonTokens } from '../../../internal/json-tokens.ts';
import type { TextRules } from '../../../signature/serializations.ts';
import type { Sample } from './samples.ts';
import {
  type KeyCandidates,
  keyCandidates,
  publicKeys,
  secretNames,
  type UncheckedKeys,
} from './scheme-space.ts';
import {
  longestText,
  searchSchemes,
  type TextCandidates,
  textCandidates,
  textUnder,
} from './search-schemes.ts';
import { type SignatureFinding, type SignatureFindingId, signatureFinding } from './signature-finding.ts';

/** What would have to be different in the secrets or the body, so that a scheme fits the sample. */
export function findNearMisses(
  sample: Sample,
  { secrets, purpose }: { secrets: UncheckedKeys; purpose: SigningPurpose },
): SignatureFinding[] {
  const keys = keyCandidates(secrets, purpose, ['']);
  const texts = textCandidates(sample);
  return [
    ...changedSecrets(secrets, purpose).map((changed) => ({ ...changed, texts })),
    ...changedBodies(sample).map((changed) => ({ ...changed, keys })),
  ]
    .filter((candidate) => searchSchemes(sample, candidate).length > 0)
    .map(({ id, what }) => signatureFinding(id, what));
}

/** The keys of changed secrets. */
interface ChangedKeys {
  readonly id: SignatureFindingId;
  readonly what: string;
  readonly keys: KeyCandidates;
}

/** Every way in which the secrets may be wrong, the likeliest first, without keys tried before. */
function changedSecrets(secrets: UncheckedKeys, purpose: SigningPurpose): ChangedKeys[] {
  const tried = new Set([...keyCandidates(secrets, purpose).keys(), ...publicKeys(secrets).keys()]);
  // Tries keys without a separator, as reported: all separators would be too much work.
  const keysOf = (changed: UncheckedKeys, other: SigningPurpose): KeyCandidates =>
    new Map([...keyCandidates(changed, other, [''])].filter(([key]) => !tried.has(key)));
  const padded = secretNames.filter((name) => secrets[name] !== secrets[name]?.trim());
  const trimmed = Object.fromEntries(secretNames.map((name) => [name, secrets[name]?.trim()]));
  return [
    {
      id: 'forged',
      what: 'Signed with the public key alone, which anybody knows: a forgery, or a test of one.',
      keys: publicKeys(secrets),
    },
    {
      id: 'forged',
      what: 'Signed without any key, which anybody can do: a forgery.',
      keys: new Map([['', [{}]]]),
    },
    {
      id: 'secret-padded',
      what: `Fits without the blanks or line break around ${padded.join(', ')}: trim it where it is read.`,
      keys: keysOf(trimmed, purpose),
    },
    {
      id: 'key-for-orders',
      what: 'Signed with a key for orders or a merchant secret, not with the key for general requests: say purpose "order".',
      keys: purpose === 'general' ? keysOf(secrets, 'order') : new Map(),
    },
  ];
}

/** The texts of a body signed in a different form. */
export interface ChangedTexts {
  readonly id: SignatureFindingId;
  readonly what: string;
  readonly texts: TextCandidates;
}

/** Every form in which the body may have been signed, the likeliest first. */
export function changedBodies(sample: Sample): ChangedTexts[] {
  return [
    ...['\n', '\r\n'].map((newline) => withNewline(sample, newline)),
    {
      id: 'stringified-twice',
      what: 'Fits when the JSON text is made a JSON string before it is signed, as JSON.stringify(JSON.stringify(body)) does.',
      texts: mapTexts(textCandidates(sample), (text) => JSON.stringify(text)),
    },
    ...otherSpellings(sample),
  ];
}

function withNewline(sample: Sample, newline: string): ChangedTexts {
  const texts = mapTexts(textCandidates(sample), (text) => text + newline);
  const inBase64 = { serialization: 'base64' } as const;
  const text = textUnder(inBase64, { json: sample.json + newline, value: {} });
  if (text !== undefined) texts.set(text, [inBase64]);
  return {
    id: 'newline-signed',
    what: 'Fits with a line break behind the body, which is signed with it: keep it when you take the body from a file or a log, or add it before you verify.',
    texts,
  };
}

function otherSpellings({ json, value }: Sample): ChangedTexts[] {
  const { signature: _, ...members } = value;
  const spellings: Readonly<Record<string, string | undefined>> = {
    'indented by two spaces': indented(json, members, '  '),
    'indented by four spaces': indented(json, members, '    '),
    'indented by tabs': indented(json, members, '\t'),
    'with the spaces of Python and without its escapes (ensure_ascii=False)': spaced(json),
    'with escaped slashes (PHP with JSON_UNESCAPED_UNICODE)': json.replaceAll(/\\?\//g, '\\/'),
  };
  return Object.entries(spellings).flatMap(([name, text]): ChangedTexts[] => {
    // The text as it is was tried before.
    if (text === undefined || text === json) return [];
    return [
      {
        id: 'other-spelling',
        what: `Fits the body ${name}: what was signed is not the text that is here. Either the sender signs another text than it posts, or a framework or proxy wrote the body again on its way: take the raw body.`,
        texts: new Map([[text, [{ serialization: 'as-sent' }]]]),
      },
    ];
  });
}

function indented(json: string, members: object, indent: string): string | undefined {
  if (indentation(json) * indent.length > longestText(json)) return undefined;
  try {
    return JSON.stringify(members, null, indent);
  } catch (error) {
    // Nested too deeply for the call stack.
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

/** How often an indented text has its indent, at most: it grows with the square of the depth. */
function indentation(json: string): number {
  let [depth, indents] = [0, 0];
  for (const { kind, text } of jsonTokens(json)) {
    if (kind !== 'punctuation' || text === ':') continue;
    if (text === '{' || text === '[') depth++;
    else if (text !== ',') depth--;
    indents += depth;
  }
  return indents;
}

function spaced(json: string): string {
  let written = '';
  for (const { kind, text } of jsonTokens(json)) {
    if (kind !== 'space') written += text === ',' || text === ':' ? `${text} ` : text;
  }
  return written;
}

function mapTexts(
  texts: TextCandidates,
  change: (text: string) => string,
): Map<string, readonly TextRules[]> {
  return new Map([...texts].map(([text, rules]) => [change(text), rules]));
}
