/**
 * What a promise resolves with; `undefined` if that takes longer than this. Rejects when the signal is aborted.
 */
export async function settledOr<Value>(
  promise: Promise<Value>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Value | undefined> {
  signal?.throwIfAborted();
  const stopped = Promise.withResolvers<undefined>();
  const timer = setTimeout(stopped.resolve, timeoutMs, undefined);
  const onAbort = () => stopped.reject(signal?.reason);
  signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([promise, stopped.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
