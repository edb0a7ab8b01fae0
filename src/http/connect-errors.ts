import { subscribe } from 'node:diagnostics_channel';

const connectErrors = new WeakSet<Error>();

// undici, which is Node's fetch, reports here each connection that it could not make. The same error object comes back
// as the cause of the rejected fetch. The codes alone do not tell: a reset, or a broken TLS record, can come while the
// connection is made as well as after the request has left.
subscribe('undici:client:connectError', (message) => {
  const error = typeof message === 'object' && message !== null && 'error' in message && message.error;
  if (error instanceof Error) connectErrors.add(error);
});

/** Whether undici failed with this error while it connected (TCP, proxy, TLS), so that no request can have left. */
export function isConnectError(error: Error): boolean {
  return connectErrors.has(error);
}
