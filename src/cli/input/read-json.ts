import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { decodeBody } from '../../signature/decode-body.ts';
import { CliError } from '../context/cli-error.ts';

/** The JSON object in some bytes. The error holds nothing of them: they may be keys. */
export function readJsonObject(bytes: Uint8Array, name: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(decodeBody(bytes));
  } catch {
    throw new CliError(`${name} is not JSON in UTF-8: check the file.`);
  }
  if (isJsonObject(value)) return value;
  throw new CliError(`${name} is not a JSON object: check the file.`);
}
