import { isJsonObject, type JsonObject } from '../../../internal/json.ts';
import { findMembers } from '../../../internal/json-scanner.ts';
import { jsonTokens } from '../../../internal/json-tokens.ts';
import { type BodyForms, serializationRules, type TextRules } from '../../../signature/serializations.ts';
import { javascriptNumber, phpNumber, pythonNumber, rewriteJson, type Spelling } from './json-spellings.ts';
import type { Sample } from './samples.ts';
import { allTextRules } from './scheme-space.ts';
import { longestText, type TextCandidates, textCandidates, textUnder } from './search-schemes.ts';
import type { SignatureFindingId } from './signature-finding.ts';

/** The texts of a body signed in a different form. */
export interface ChangedTexts {
  readonly id: SignatureFindingId;
  readonly what: string;
  readonly texts: TextCandidates;
}

/** Every form in which the body may have been signed, the likeliest first, without texts tried before. */
export function* changedBodies(sample: Sample): Generator<ChangedTexts> {
  const tried = new Set(textCandidates(sample).keys());
  for (const changed of changes(sample)) {
    const texts = new Map([...changed.texts].filter(([text]) => !tried.has(text)));
    for (const text of texts.keys()) tried.add(text);
    if (texts.size > 0) yield { ...changed, texts };
  }
}

function* changes(sample: Sample): Generator<ChangedTexts> {
  yield* withSignature(sample);
  yield* withNewline(sample);
  yield* stringifiedTwice(sample);
  yield* withNestedUnsigned(sample);
  yield* otherSpellings(sample);
  yield* otherNumbers(sample);
}

function* withSignature({ source }: Sample): Generator<ChangedTexts> {
  const [member] = findMembers(source, 'signature');
  if (member === undefined) return;
  const { start, end } = member.value;
  for (const literal of [...placeholders, `"${'0'.repeat(128)}"`]) {
    const changed = source.slice(0, start) + literal + source.slice(end);
    const shown = literal.startsWith('"0') ? '128 zeros' : literal;
    yield {
      id: 'signature-in-body',
      what: `Fits when the body is signed with its signature member in it, as ${shown}: put that in the member's place, and sign and verify that text. The contract leaves the member out (Authentication 4).`,
      texts: textsWithSignature(changed),
    };
  }
}

/** Values that a sender may put into the member before the signature is known; 128 zeros are tried too. */
const placeholders = ['""', 'null', '"signature"', '"SIGNATURE"', '"placeholder"'];

function textsWithSignature(body: string): TextCandidates {
  const value: unknown = JSON.parse(body);
  const texts = new Map(textCandidates({ json: body, value: {} }, allTextRules().filter(readsText)));
  if (!isJsonObject(value)) return texts;
  // These rules leave out only a top-level member, so the body is nested to keep it.
  for (const serialization of ['compact', 'sorted'] as const) {
    const text = textUnder({ serialization }, { json: body, value: { x: value } })?.slice('{"x":'.length, -1);
    if (text !== undefined) texts.set(text, [{ serialization }, ...(texts.get(text) ?? [])]);
  }
  return texts;
}

/** Whether a rule reads the text, not the parsed value. */
function readsText({ serialization }: TextRules): boolean {
  return serializationRules(serialization).reads === 'text';
}

function* withNewline(sample: Sample): Generator<ChangedTexts> {
  for (const [newline, name] of [
    ['\n', 'a line feed'],
    ['\r\n', 'a carriage return and a line feed'],
  ] as const) {
    const texts = mapTexts(textCandidates(sample), (text) => text + newline);
    const inBase64 = { serialization: 'base64' } as const;
    const text = textUnder(inBase64, { json: sample.json + newline, value: {} });
    if (text !== undefined) texts.set(text, [inBase64]);
    yield {
      id: 'newline-signed',
      what: `Fits with ${name} behind the body, which is signed with it: keep the line break when you take the body from a file or a log, or add it before you verify.`,
      texts,
    };
  }
}

function* stringifiedTwice(sample: Sample): Generator<ChangedTexts> {
  yield {
    id: 'stringified-twice',
    what: 'Fits when the JSON text is made a JSON string before it is signed, as JSON.stringify(JSON.stringify(body)) does.',
    texts: mapTexts(textCandidates(sample), (text) => JSON.stringify(text)),
  };
}

function* withNestedUnsigned({ value }: Sample): Generator<ChangedTexts> {
  const { signature: _, ...members } = value;
  let text: string;
  try {
    text = JSON.stringify(members, Object.keys(members).sort());
  } catch (error) {
    // Nested too deeply for the call stack.
    if (!(error instanceof RangeError)) throw error;
    return;
  }
  yield {
    id: 'nested-unsigned',
    what: 'Fits JSON.stringify(body, Object.keys(body).sort()), a recipe that leaves out each nested member whose name is not at the top too: anybody can change those under the same signature, so no scheme has it. Ask the service to sign the whole body.',
    texts: new Map([[text, [{ serialization: 'sorted' }]]]),
  };
}

function* otherSpellings({ json, value }: Sample): Generator<ChangedTexts> {
  for (const [name, write] of Object.entries(allSpellings())) {
    const text = write(json, value);
    if (text === undefined) continue;
    yield {
      id: 'other-spelling',
      what: `Fits the body ${name}: what was signed is not the text that is here. Either the sender signs another text than it posts, or a framework or proxy wrote the body again on its way: take the raw body.`,
      texts: new Map([[text, [{ serialization: 'as-sent' }]]]),
    };
  }
}

type Write = (json: string, value: JsonObject) => string | undefined;

// A function, since a bundler cannot drop a call at the top of a module.
function allSpellings(): Readonly<Record<string, Write>> {
  return {
    'indented by two spaces': indented('  '),
    'indented by four spaces': indented('    '),
    'indented by tabs': indented('\t'),
    'with the spaces of Python and without its escapes (ensure_ascii=False)': spelled({
      comma: ', ',
      colon: ': ',
      quote: JSON.stringify,
    }),
    'with escaped slashes (PHP with JSON_UNESCAPED_UNICODE)': spelled({
      comma: ',',
      quote: (text) => JSON.stringify(text).replaceAll('/', '\\/'),
    }),
  };
}

function spelled(spelling: Spelling): Write {
  return (json) => rewriteJson(json, spelling);
}

function indented(indent: string): Write {
  return (json, { signature: _, ...value }) => {
    if (indentation(json) * indent.length > longestText(json)) return undefined;
    try {
      return JSON.stringify(value, null, indent);
    } catch (error) {
      // Nested too deeply for the call stack.
      if (!(error instanceof RangeError)) throw error;
      return undefined;
    }
  };
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

function* otherNumbers({ json, value }: Sample): Generator<ChangedTexts> {
  for (const [language, number] of [
    ['JavaScript', javascriptNumber],
    ['Python', pythonNumber],
    ['PHP', phpNumber],
  ] as const) {
    const forms: BodyForms = { json: rewriteJson(json, { number }), value };
    if (forms.json === json) continue;
    yield {
      id: 'numbers-respelled',
      what: `Fits once the numbers are written as ${language} writes them after parsing. The signer parses the body and writes it again: the scheme holds for bodies whose numbers are spelled in that way.`,
      texts: textCandidates(forms, allTextRules().filter(readsText)),
    };
  }
}

function mapTexts(
  texts: TextCandidates,
  change: (text: string) => string,
): Map<string, readonly TextRules[]> {
  return new Map([...texts].map(([text, rules]) => [change(text), rules]));
}
