import { type Encoding, schemeParts } from '../../src/signature/signature-scheme.ts';
import { encoded } from './scheme-vectors.ts';

export type Random = () => number;

/** White space as JSON has it. */
const jsonSpaces = [' ', '\n', '\t', '\r\n', '  ', '\n    ', '\r', ' \t '];
/** What other languages, and `trim`, also take for white space, or what is not seen. */
export const foreignSpaces = [
  ...['\u00a0', '\v', '\f', '\u2028', '\u2029', '\ufeff', '\u3000', '\u1680', '\u2003', '\u202f'],
  ...['\u205f', '\u0085', '\u180e', '\u200b', '\0', '\u001f', '\u0008'],
];

/** Ways of writing the name that mean `signature`; the plain one most often. */
const signatureNames = [
  ...Array.from({ length: 8 }, () => '"signature"'),
  '"\\u0073ignature"',
  '"signatur\\u0065"',
  '"si\\u0067\\u006Eature"',
];
const otherNames = [
  ...['"a"', '"b"', '""', '" "', '"1"', '"10"', '"-1"', '"é"', '"😀"', '"\\u00e9"', '"Signature"'],
  ...[
    '"signature "',
    '"signatures"',
    '"xsignature"',
    '"\\"signature"',
    '"signature\\""',
    '"\\\\u0073ignature"',
  ],
  ...['"signature\\u0000"', '"signatur"', '"__proto__"', '"toString"', '"\\n"', '"\\ud83d"', '"\\/"'],
];
const scalars = [
  ...['0', '-0', '1', '-1', '10.0', '1e2', '1E+2', '1e-7', '0.1', '12345678901234567890', '1e999'],
  ...['true', 'false', 'null', '""', '"x"', '"signature"', '"\\"signature\\":\\"x\\","', '"é"', '"\\u00e9"'],
  ...['"😀"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\\\"', '"\\""', '"\\\\\\""', '"a\\/b"', '"\u2028"'],
  ...['"}"', '"]"', '","', '"{"', '":"', '"\u007f"', '"\\b\\f\\n\\r\\t"', '"\u00a0"', '"\u0000x"'],
];
/** For mutations: what means something in JSON, and what looks as if it did. */
const pieces = [
  ...['"', '\\', '{', '}', '[', ']', ',', ':', ' ', '\n', '0', '1', '-', '+', '.', 'e', 'E', 'u', 's', 'n'],
  ...['/', "'", '//', '/*', '\\u', '\\"', '\\\\', '\\u0073', '\\x73', 'NaN', 'undefined', '"signature"'],
  ...['"signature":', ',"signature":""', '{}', '[]', ',,', '01', '1.', '.5', '+1', '0x1', '1e', '\ud83d'],
  ...['\ude00', '😀', '\u0130', '\u017f', '\uff02', 'true', 'nul', 'None', ';', '=', '\u0001'],
];

/** A text that is JSON, save for a few foreign blanks and raw control characters; most often a signed body. */
export function makeText(random: Random, encoding: Encoding): string {
  const gap = gapsOf(random);
  const members: string[] = [];
  for (let count = below(random, 5); count > 0; count--) {
    members.push(`${pick(random, otherNames)}${gap()}:${gap()}${makeValue(random, gap, 3, encoding)}`);
  }
  const weight = random();
  const signatures = weight < 0.06 ? 0 : weight < 0.84 ? 1 : weight < 0.97 ? 2 : 3;
  for (let count = 0; count < signatures; count++) {
    const place = random() < 0.6 ? members.length : below(random, members.length + 1);
    const member = `${pick(random, signatureNames)}${gap()}:${gap()}${makeSignature(random, encoding)}`;
    members.splice(place, 0, member);
  }
  const body = list(members, '{', '}', gap);
  return gap() + (random() < 0.96 ? body : otherRoot(random, body)) + gap();
}

/** A text with one to four small changes, more of them where a signature that is last would lie. */
export function mutate(random: Random, text: string): string {
  let mutated = text;
  for (let count = 1 + below(random, 4) * below(random, 2); count > 0; count--) {
    mutated =
      random() < 0.35 ? changeSeam(random, mutated) : change(random, mutated, placeIn(random, mutated));
  }
  return mutated;
}

function placeIn(random: Random, text: string): number {
  const tail = random() < 0.4;
  return tail
    ? Math.max(0, text.length - below(random, 220) * below(random, 2) - below(random, 8))
    : below(random, text.length + 1);
}

/** Something beside one of the last marks: there blanks may stand around a signature that is cut off the end. */
function changeSeam(random: Random, text: string): string {
  let mark = text.length;
  for (let seam = below(random, 9); seam > 0 && mark > 0; seam--) {
    do mark--;
    while (mark > 0 && !'{}[]:,"'.includes(text.charAt(mark)));
  }
  const at = mark + below(random, 2);
  const kind = random();
  if (kind < 0.2) return text.slice(0, mark) + text.slice(mark + 1);
  const inserted = kind < 0.65 ? foreignSpaces : kind < 0.8 ? jsonSpaces : pieces;
  return text.slice(0, at) + pick(random, inserted) + text.slice(at);
}

function change(random: Random, text: string, at: number): string {
  const [before, after] = [text.slice(0, at), text.slice(at)];
  switch (below(random, 9)) {
    case 0:
    case 1:
      return before + pick(random, pieces) + after;
    case 2:
      return before + pick(random, pieces) + after.slice(1);
    case 3:
      return before + pick(random, random() < 0.5 ? foreignSpaces : jsonSpaces) + after;
    case 4:
      return before + after.slice(1 + below(random, 3));
    case 5:
      // A stretch of the text once more.
      return before + text.slice(below(random, text.length), below(random, text.length)) + after;
    case 6:
      return random() < 0.3 ? before : before + after.slice(0, -1);
    case 7:
      return `${before}${String.fromCharCode(below(random, 0x10000))}${after.slice(1)}`;
    default:
      // Two neighbours the other way round.
      return before + (after[1] ?? '') + (after[0] ?? '') + after.slice(2);
  }
}

function gapsOf(random: Random): () => string {
  const style = below(random, 4);
  const foreign = random() < 0.04;
  if (style === 0 && !foreign) return () => '';
  const fixed = pick(random, jsonSpaces);
  return () => {
    if (foreign && random() < 0.1) return pick(random, foreignSpaces);
    if (style === 1) return fixed;
    return random() < 0.5 ? '' : pick(random, jsonSpaces);
  };
}

function makeValue(random: Random, gap: () => string, depth: number, encoding: Encoding): string {
  const kind = depth === 0 ? 0 : random();
  if (kind < 0.7) return random() < 0.02 ? makeSignature(random, encoding) : pick(random, scalars);
  const length = below(random, 4);
  if (kind < 0.85) {
    return list(
      Array.from({ length }, () => makeValue(random, gap, depth - 1, encoding)),
      '[',
      ']',
      gap,
    );
  }
  const names = random() < 0.3 ? signatureNames : otherNames;
  const member = () =>
    `${pick(random, names)}${gap()}:${gap()}${makeValue(random, gap, depth - 1, encoding)}`;
  return list(Array.from({ length }, member), '{', '}', gap);
}

/** The JSON of a signature: most often well formed in the encoding. */
function makeSignature(random: Random, encoding: Encoding): string {
  const digest = Buffer.from(Array.from({ length: 64 }, () => below(random, 256)));
  const right = encoded(digest, encoding);
  const weight = random();
  if (weight < 0.82) return `"${right}"`;
  if (weight < 0.86) return `"${right.replaceAll('/', '\\/')}"`;
  if (weight < 0.9) return `"\\u00${right.charCodeAt(0).toString(16)}${right.slice(1)}"`;
  if (weight < 0.93) return `"${encoded(digest, pick(random, schemeParts.encoding))}"`;
  if (weight < 0.95) return `"${right.slice(0, -1)}"`;
  if (weight < 0.97)
    return `"${right.slice(0, -1)}${pick(random, ['g', '=', ' ', 'é', '\u0130', '\\n', '\\"'])}"`;
  return pick(random, ['null', '1', '{}', '[]', '""', 'true', `["${right}"]`, `{"signature":"${right}"}`]);
}

function otherRoot(random: Random, body: string): string {
  return pick(random, [
    `[${body}]`,
    `{"body":${body}}`,
    JSON.stringify(body),
    `${body}${body}`,
    `${body},`,
    `[],${body}`,
    pick(random, scalars),
    '',
    `,${body}`,
    body.replace('{', '{,'),
    body.replace(/\}(?=[^}]*$)/, ',}'),
    `\ufeff${body}`,
  ]);
}

function list(items: readonly string[], open: string, close: string, gap: () => string): string {
  if (items.length === 0) return open + gap() + close;
  let text = open;
  for (const [index, item] of items.entries()) text += `${index === 0 ? '' : ','}${gap()}${item}${gap()}`;
  return text + close;
}

export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  // Sound: the index is below the length, and no list here is empty.
  return items[below(random, items.length)] as Item;
}
