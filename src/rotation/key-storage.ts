/**
 * Keeps the keys of a rotation as one text. `keyFile` and `storedKeys` make them.
 *
 * The text holds secrets: it must be where only this program can read it.
 */
export interface KeyStorage {
  /** What was written last; `undefined` if there is nothing yet. */
  read(): Promise<string | undefined>;
  /**
   * Reads the text, changes it, and writes it, with no other change in between, in any process. When the promise
   * resolves, the text survives a crash.
   *
   * @param change pure and synchronous: it may run more than once. Returns `undefined` to leave the text as it is. If it
   *   throws, nothing is written, and the promise rejects with what it threw
   */
  update(change: (text: string | undefined) => string | undefined): Promise<void>;
}
