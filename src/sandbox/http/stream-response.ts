import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Writes a response as its body comes, and no faster than the caller reads it. */
export async function streamResponse(
  response: Response,
  outgoing: ServerResponse,
  method: string | undefined,
): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const reader = response.body?.getReader();
  if (reader === undefined || method === 'HEAD') {
    await reader?.cancel();
    outgoing.end();
    return;
  }
  const gone = new AbortController();
  const leave = () => {
    gone.abort();
    reader.cancel().catch(() => {});
  };
  // It can have happened while the answer was made.
  if (outgoing.destroyed) return leave();
  outgoing.once('close', leave);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!outgoing.write(value)) await once(outgoing, 'drain', { signal: gone.signal });
  }
  outgoing.end();
}
