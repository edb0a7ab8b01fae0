import { isJsonObject, type JsonObject, tryParse } from '../../../../internal/json.ts';
import { decodeUtf8 } from '../../../../internal/utf8.ts';
import { readSavedRequest } from '../../deliveries/saved-deliveries.ts';
import { inputName, readExactJsonObject, readInput } from '../../inputs/input.ts';
import { type CliContext, CliError } from '../../terminal/context.ts';

/** Reads event bodies from a file or stdin: a JSON object, an array of objects, an object on each line, or a saved delivery. */
export async function readEventBodies(
  context: CliContext,
  path: string,
): Promise<readonly [JsonObject, ...JsonObject[]]> {
  const name = inputName(path);
  return parseBodies(readSavedRequest(await readInput(context, path), name).body, name);
}

function parseBodies(bytes: Uint8Array, name: string): readonly [JsonObject, ...JsonObject[]] {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new CliError(`${name} is not JSON in UTF-8: check the file.`);
  const value = tryParse(text);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  // Each object is read from its own text, so that a loss in it is found.
  const texts =
    value === undefined && lines.length > 1
      ? lines.map((line, index) => ({ text: line, name: `${name}, line ${index + 1}` }))
      : [{ text, name }];
  const [first, ...more] = texts.flatMap((each) => objectsIn(each));
  if (first !== undefined) return [first, ...more];
  throw new CliError(`${name} holds no event: give one JSON object, an array of them, or one on each line.`);
}

function objectsIn({ text, name }: { text: string; name: string }): JsonObject[] {
  const value = tryParse(text);
  if (!Array.isArray(value)) return [readExactJsonObject(Buffer.from(text), name)];
  // The array becomes a member, so that the checks see all of it.
  const { events } = readExactJsonObject(Buffer.from(`{"events":${text}}`), name);
  return (Array.isArray(events) ? events : []).map((each, index) => {
    if (isJsonObject(each)) return each;
    throw new CliError(`${name}: the element ${index} is not an object: an event is one.`);
  });
}
