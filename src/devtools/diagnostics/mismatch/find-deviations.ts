import { isNumber, type JsonToken, jsonTokens } from '../../../internal/json-tokens.ts';
import { isExactNumber } from '../find-lossy-member.ts';

/**
 * - `white-space`: between JSON tokens.
 * - `number-spelling`: a trailing zero, an exponent, a capital `E`, a negative zero.
 * - `number-precision`: more digits than a double holds, so the parsed number differs.
 * - `string-escape`: an escape that `JSON.stringify` does not write, or writes differently.
 * - `index-order`: an integer-like name that `JSON.stringify` moves to the front.
 * - `repeated-member`: a name that occurs twice in an object; the last one counts.
 */
export type DeviationCode =
  | 'white-space'
  | 'number-spelling'
  | 'number-precision'
  | 'string-escape'
  | 'index-order'
  | 'repeated-member';

/** A difference between a body's text and `JSON.stringify(JSON.parse(text))`. */
export interface Deviation {
  /** The kind of difference. */
  readonly code: DeviationCode;
  /** The place of its first occurrence, in UTF-16 code units. */
  readonly offset: number;
  /** How often it occurs. */
  readonly count: number;
  /** Its kind, never the value. */
  readonly description: string;
}

/**
 * Finds the differences between a body's text and its compact re-serialisation.
 *
 * @param text accepted by `JSON.parse`
 */
export function findDeviations(text: string): Deviation[] {
  const found = new Map<string, Deviation>();
  const walk = startWalk();
  for (const token of jsonTokens(text)) {
    for (const { code, description } of [...deviationsOf(token), ...walk(token)]) {
      const { offset, count } = found.get(description) ?? { offset: token.start, count: 0 };
      found.set(description, { code, offset, count: count + 1, description });
    }
  }
  return [...found.values()];
}

type Kind = Pick<Deviation, 'code' | 'description'>;

function deviationsOf({ kind, text }: JsonToken): Kind[] {
  if (kind === 'space') return [{ code: 'white-space', description: 'white space between the pieces' }];
  if (kind === 'string') return text.includes('\\') ? escapeDeviations(text) : [];
  return kind === 'word' && isNumber(text) ? numberDeviations(text) : [];
}

function escapeDeviations(text: string): Kind[] {
  if (JSON.stringify(JSON.parse(text)) === text) return [];
  const description = text.includes('\\/')
    ? 'string with an escaped slash (\\/)'
    : 'string with an escape that is not needed, or in capitals (like \\u00e9)';
  return [{ code: 'string-escape', description }];
}

function numberDeviations(literal: string): Kind[] {
  if (JSON.stringify(Number(literal)) === literal) return [];
  if (!isExactNumber(literal)) {
    return [
      {
        code: 'number-precision',
        description: 'number with more digits than a double holds (like 2^53 + 1)',
      },
    ];
  }
  return [{ code: 'number-spelling', description: describeSpelling(literal) }];
}

function describeSpelling(literal: string): string {
  if (/e/i.test(literal)) return 'number spelled with an exponent (like 1e2)';
  if (Number(literal) === 0 && literal.startsWith('-')) return 'negative zero';
  if (literal.includes('.') && literal.endsWith('0'))
    return 'number spelled with a trailing zero (like 10.0)';
  return 'number spelled at length where JSON.stringify uses an exponent';
}

/** An open object or array. */
interface Frame {
  readonly kind: 'object' | 'array';
  readonly names: Set<string>;
  greatestIndex: number;
  hasOtherNames: boolean;
}

/** Follows the members of objects, without recursion. */
function startWalk(): (token: JsonToken) => Kind[] {
  const frames: Frame[] = [];
  let nameIsNext = false;
  return ({ kind, text }) => {
    const frame = frames.at(-1);
    if (kind === 'string' && nameIsNext && frame !== undefined) {
      nameIsNext = false;
      return memberDeviations(String(JSON.parse(text)), frame);
    }
    if (kind !== 'punctuation') return [];
    if (text === '{') frames.push(openFrame('object'));
    else if (text === '[') frames.push(openFrame('array'));
    else if (text === '}' || text === ']') frames.pop();
    nameIsNext = text === '{' || (text === ',' && frame?.kind === 'object');
    return [];
  };
}

function openFrame(kind: Frame['kind']): Frame {
  return { kind, names: new Set(), greatestIndex: -1, hasOtherNames: false };
}

function memberDeviations(name: string, frame: Frame): Kind[] {
  const kinds: Kind[] = [];
  if (frame.names.has(name)) {
    kinds.push({ code: 'repeated-member', description: 'member whose name occurred before' });
  }
  frame.names.add(name);
  if (!isIndex(name)) {
    frame.hasOtherNames = true;
    return kinds;
  }
  if (frame.hasOtherNames || Number(name) < frame.greatestIndex) {
    kinds.push({
      code: 'index-order',
      description:
        'member with a name like an array index, which moves to the front when it is written again',
    });
  }
  frame.greatestIndex = Math.max(frame.greatestIndex, Number(name));
  return kinds;
}

/** ECMAScript puts such names first, in numeric order. */
function isIndex(name: string): boolean {
  const index = Number(name);
  return Number.isInteger(index) && index >= 0 && index < 2 ** 32 - 1 && String(index) === name;
}
