import { memoryInbox } from 'partner-exchange-sdk/inbox';
import {
  createWebhooks,
  type EventHandler,
  type OrderEvent,
  type Webhooks,
} from 'partner-exchange-sdk/webhooks';
import { credentials, sleep } from './fixtures.ts';
import { bullmqInMemory, pgBossInMemory } from './queues.ts';

/*
 * Receivers that live as long as the process, as they do in an application: in workerd each request has timers and
 * streams of its own, and what one request leaves behind must not be in the way of the next.
 */

const timeLimitMs = 500;

/** Takes a while; at the first attempt it fails, or never ends, where the event says so. */
function handler(): EventHandler<OrderEvent> {
  const attempted = new Set<string>();
  return async (_event, { digest, body: { behave } }) => {
    const first = !attempted.has(digest);
    attempted.add(digest);
    await sleep(50);
    if (first && behave === 'fail') throw new Error('down');
    if (first && behave === 'hang') await new Promise(() => {});
  };
}

const onError = () => {};
const plain = createWebhooks({ credentials, onError, timeLimitMs }).onAny(handler());
const memory = createWebhooks({ credentials, onError, inbox: memoryInbox({ timeLimitMs }) }).onAny(handler());
// At the first request: workerd makes no AbortController before it, and bullmqInbox has one.
const bullmq = once(() => createWebhooks({ credentials, onError, inbox: bullmqInMemory().inbox }));
const pgBoss = once(() => createWebhooks({ credentials, onError, inbox: pgBossInMemory().inbox }));
const receivers: Readonly<Record<string, () => Webhooks>> = {
  '/plain': () => plain,
  '/memory': () => memory,
  '/bullmq': bullmq,
  '/pg-boss': pgBoss,
};

/** Hands a request to the receiver that its path names. */
export async function answer(request: Request): Promise<Response> {
  const receiver = receivers[new URL(request.url).pathname];
  return (await receiver?.().fetch(request)) ?? new Response(null, { status: 404 });
}

function once<Value>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
