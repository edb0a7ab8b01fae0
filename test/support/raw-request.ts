import { request } from 'node:http';
import { text } from 'node:stream/consumers';

/** One request with any headers: fetch would not let us choose Host or Origin as a browser would send them. */
export function rawRequest(
  url: string,
  {
    method = 'GET',
    headers = {},
    body = '',
    path,
  }: {
    method?: string;
    headers?: object;
    body?: string;
    /** Sent as it is, in place of that of the URL. */
    path?: string;
  } = {},
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method, headers: { ...headers }, ...(path !== undefined && { path }) },
      (incoming) => {
        const { statusCode: status = 0, headers } = incoming;
        text(incoming).then((text) => resolve({ status, headers, text }), reject);
      },
    );
    outgoing.on('error', reject).end(body);
  });
}
