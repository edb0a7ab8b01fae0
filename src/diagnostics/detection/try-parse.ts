/** What `JSON.parse` makes of a text; `undefined` when it is not JSON. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
