import { type Answer, answerTo } from './answer.ts';
import { checkHead } from './check-head.ts';
import { readFetchBody } from './fetch-body.ts';
import type { Receiver } from './receiver.ts';

/** `Request -> Response`. Never rejects for anything a caller sends. */
export async function handleFetch(request: Request, receiver: Receiver): Promise<Response> {
  const { status, headers, body } = await answerRequest(request, receiver);
  return new Response(request.method === 'HEAD' ? null : body, { status, headers });
}

async function answerRequest(request: Request, receiver: Receiver): Promise<Answer> {
  const begun = performance.now();
  const head = { method: request.method, header: (name: string) => request.headers.get(name) };
  const refusal = checkHead(head, receiver.maxBodyBytes);
  if (refusal !== undefined) {
    request.body?.cancel().catch(() => {});
    return receiver.refuse(refusal, begun);
  }
  const taken = await readFetchBody(request, receiver);
  return 'body' in taken
    ? answerTo(await receiver.receive(taken.body))
    : receiver.refuse(taken.refusal, begun);
}
