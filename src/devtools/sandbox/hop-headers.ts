/** Headers of one connection, which say nothing on another one (RFC 9110, 7.6.1), and those that depend on the bytes. */
const hopHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['host', 'content-length', 'expect'],
]);

/** The headers that a repeated request can have. */
export function withoutHopHeaders(
  headers: readonly (readonly [name: string, value: string])[],
): (readonly [string, string])[] {
  const named = headers
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((token) => token.trim().toLowerCase()));
  return headers.filter(
    ([name]) => !hopHeaders.has(name.toLowerCase()) && !named.includes(name.toLowerCase()),
  );
}
