import { SignatureError } from '../errors/signature-error.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';

/** `JSON.stringify` without the top-level `signature`. */
export function compactText(value: JsonObject): string {
  const { signature: _, ...rest } = value;
  return guardDepth(() => JSON.stringify(rest));
}

/** As {@link compactText}, with the members of every object in code unit order of their names. */
export function sortedText(value: JsonObject): string {
  const { signature: _, ...rest } = value;
  return guardDepth(() => writeSorted(rest));
}

function writeSorted(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(writeSorted).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // Written by hand: an object with its members set in order would still list integer-like names first.
  const members: string[] = [];
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${writeSorted(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** Serialising is recursive, in the engine too: a text nested beyond its call stack has a typed outcome. */
function guardDepth(write: () => string): string {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SignatureError('body_too_deep', 'The body is nested too deeply to be serialised again.');
  }
}
