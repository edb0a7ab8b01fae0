import { memoryInbox, queueInbox, storeInbox } from 'partner-exchange-sdk/inbox';
import { memoryStore } from 'partner-exchange-sdk/store';
import {
  createWebhooks,
  type EventHandler,
  type OrderEvent,
  type Webhooks,
} from 'partner-exchange-sdk/webhooks';
import { credentials, sleep } from './fixtures.ts';

/*
 * Receivers that live as long as the process, as they do in an application: in workerd each request has timers and
 * streams of its own, and what one request leaves behind must not be in the way of the next.
 */

// real time: only what never ends reaches it.
const timeLimitMs = 500;

/** Takes a while; at the first attempt it fails, or never ends, where the event says so. */
function handler(): EventHandler<OrderEvent> {
  const attempted = new Set<string>();
  return async (_event, { digest, body: { behave } }) => {
    const first = !attempted.has(digest);
    attempted.add(digest);
    // real time: another delivery comes meanwhile.
    await sleep(50);
    if (first && behave === 'fail') throw new Error('down');
    if (first && behave === 'hang') await new Promise(() => {});
  };
}

const onError = () => {};
const memory = createWebhooks({ credentials, onError, inbox: memoryInbox({ timeLimitMs }) }).onAny(handler());
const queued = queueInbox({ send: async () => {}, store: memoryStore(), role: 'receiver' });
const queue = createWebhooks({ credentials, onError, inbox: queued });
const scheduled = storeInbox({ store: memoryStore(), role: 'drain', timeLimitMs });
const store = createWebhooks({ credentials, onError, inbox: scheduled }).onAny(handler());
const receivers: Readonly<Record<string, () => Webhooks>> = {
  '/memory': () => memory,
  '/queue': () => queue,
  '/store': () => store,
};

/** Hands a request to the receiver that its path names; `/drain` handles what `/store` has stored. */
export async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === '/drain') return Response.json(await scheduled.drain());
  const receiver = receivers[pathname];
  return (await receiver?.().fetch(request)) ?? new Response(null, { status: 404 });
}
