import { StoreError } from '../errors/store-error.ts';
import type { JsonValue } from '../json/json-value.ts';

/**
 * The value of a record.
 *
 * @throws {StoreError} `store_failed` if somebody else has changed it. Without the parser's error, which quotes the text
 */
export function readRecordText(text: string): JsonValue {
  try {
    // Sound: JSON.parse returns JSON data.
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new StoreError(
      'store_failed',
      'A record of the store is not JSON: something else than this package has changed it.',
    );
  }
}
