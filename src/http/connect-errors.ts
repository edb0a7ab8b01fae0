import { subscribe } from 'node:diagnostics_channel';

const connectErrors = new WeakSet<Error>();

// undici, Node's fetch, reports every connection that it could not make here, and passes the same error object on as
// the cause of the rejected fetch. The codes alone do not tell: a reset or a broken TLS record can also come after the
// request has left.
subscribe('undici:client:connectError', (message) => {
  const error = typeof message === 'object' && message !== null && 'error' in message && message.error;
  if (error instanceof Error) connectErrors.add(error);
});

/** Whether undici failed with this error while connecting (TCP, proxy, TLS), so that no request can have left. */
export function isConnectError(error: Error): boolean {
  return connectErrors.has(error);
}
