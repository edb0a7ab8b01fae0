/** Hands results from several workers to one reader. */
export interface ResultQueue<Result> {
  /** Resolves when the reader has taken it: whoever reads slowly slows the work down. */
  push(result: Result): Promise<void>;
  /** The results until `ended` has settled and all are read. */
  until(ended: Promise<unknown>): AsyncGenerator<Result, void, undefined>;
  /** Lets go of what nobody will read, now and later. */
  discard(): void;
}

export function resultQueue<Result>(): ResultQueue<Result> {
  const waiting: { readonly result: Result; readonly taken: () => void }[] = [];
  let isDiscarded = false;
  let wake = () => {};
  return {
    push(result) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (isDiscarded) return Promise.resolve();
      waiting.push({ result, taken: resolve });
      wake();
      return promise;
    },
    async *until(ended) {
      let isOver = false;
      const over = () => {
        isOver = true;
        wake();
      };
      ended.then(over, over);
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) {
          next.taken();
          yield next.result;
        } else if (isOver) {
          return;
        } else {
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          await promise;
        }
      }
    },
    discard() {
      isDiscarded = true;
      for (const { taken } of waiting.splice(0)) taken();
    },
  };
}
