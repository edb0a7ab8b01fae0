/** Runs one operation, or fails before it, or after it has taken effect. */
export type Operate = <Result>(operation: () => Result) => Result;

/**
 * Plays a run again and again: in the n-th pair of them the n-th operation fails, before it takes effect and after it,
 * until a run has no operation left to fail. Complete, and not random.
 *
 * @param run calls `operate` for each of its operations, and checks its books when something has failed
 * @returns how many operations a run has
 */
export async function failEach(
  run: (operate: Operate) => Promise<void>,
  makeError: () => Error,
): Promise<number> {
  for (let failing = 1; ; failing++) {
    for (const moment of ['before', 'after'] as const) {
      let count = 0;
      const operate: Operate = (operation) => {
        const isFailing = ++count === failing;
        if (isFailing && moment === 'before') throw makeError();
        const result = operation();
        if (!isFailing) return result;
        if (!(result instanceof Promise)) throw makeError();
        // Sound: it is rejected, so it has no value.
        return result.then(() => Promise.reject(makeError())) as typeof result;
      };
      try {
        await run(operate);
      } catch (error) {
        throw new Error(`Operation ${failing} failed ${moment} it took effect.`, { cause: error });
      }
      if (count < failing) return failing - 1;
    }
  }
}

/** Has methods operate. @returns how to take that back */
export function operateMethods(target: object, names: readonly string[], operate: Operate): () => void {
  const originals = names.map((name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const);
  for (const [name, descriptor] of originals) {
    const original: unknown = descriptor?.value;
    if (typeof original !== 'function') throw new TypeError(`${name} is no method of its own.`);
    Object.defineProperty(target, name, {
      ...descriptor,
      value(this: unknown, ...given: unknown[]) {
        return operate(() => Reflect.apply(original, this, given));
      },
    });
  }
  return () => {
    for (const [name, descriptor] of originals) Object.defineProperty(target, name, descriptor ?? {});
  };
}
