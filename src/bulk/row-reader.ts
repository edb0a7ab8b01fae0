/** Hands rows to several workers, one after another. */
export interface RowReader<Row> {
  /** The next row; `undefined` at the end, or when the signal is aborted. Rejects when the rows do. */
  next(signal: AbortSignal): Promise<Row | undefined>;
  /** Tells the source that nothing more is read. */
  close(): void;
}

/** @param read gets the row and its place, from 1 */
export function rowReader<Given, Row>(
  rows: Iterable<Given> | AsyncIterable<Given>,
  read: (row: Given, place: number) => Row,
): RowReader<Row> {
  let iterator: Iterator<Given> | AsyncIterator<Given> | undefined;
  let place = 0;
  let isOver = false;
  // One at a time: not every iterator can be asked again before it has answered.
  let last: Promise<unknown> = Promise.resolve();

  async function take(): Promise<Row | undefined> {
    if (isOver) return undefined;
    iterator ??= Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
    try {
      const { done, value } = await iterator.next();
      if (!done) return read(value, ++place);
      isOver = true;
      return undefined;
    } catch (error) {
      isOver = true;
      throw error;
    }
  }

  return {
    async next(signal) {
      const taken = last.then(take);
      last = taken.catch(() => {});
      // A source may wait for ever, such as a terminal.
      const { promise: aborted, resolve: abort } = Promise.withResolvers<undefined>();
      const onAbort = () => abort(undefined);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
      try {
        return await Promise.race([taken, aborted]);
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
    close() {
      if (isOver) return;
      isOver = true;
      // Not awaited: a generator that waits for its own source answers only after that.
      void (async () => iterator?.return?.())().catch(() => {});
    },
  };
}
