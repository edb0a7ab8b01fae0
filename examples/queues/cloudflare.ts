/** A Worker that puts each verified event into a Cloudflare Queue, and handles it from there. */
import { effectKey } from 'partner-exchange-sdk/events';
import { type QueueMessage, queueInbox } from 'partner-exchange-sdk/inbox';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';

/** Secrets and bindings of the Worker (wrangler.jsonc). */
interface Environment {
  readonly PARTNER_PUBLIC_KEY: string;
  readonly PARTNER_SECRET_KEY: string;
  readonly MERCHANT_SECRET_KEY: string;
  readonly EVENTS: { send(message: QueueMessage): Promise<unknown> };
  /** Your own service. It drops requests whose idempotency key it knows. */
  readonly ACCOUNTS: { fetch(url: string, request: RequestInit): Promise<Response> };
}

interface MessageBatch {
  readonly messages: readonly {
    readonly body: unknown;
    readonly attempts: number;
    ack(): void;
    retry(): void;
  }[];
}

function open({ EVENTS, ACCOUNTS, ...keys }: Environment) {
  const inbox = queueInbox({
    send: (message) => EVENTS.send(message),
    maxAttempts: 4, // max_retries of the queue, and one
  });
  const webhooks = createWebhooks({
    credentials: {
      partnerPublicKey: keys.PARTNER_PUBLIC_KEY,
      partnerSecretKey: keys.PARTNER_SECRET_KEY,
      merchantSecretKey: keys.MERCHANT_SECRET_KEY,
    },
    inbox,
  }).on('event.buy.credited.crypto', async (event, { signal }) => {
    // One for all texts about this credit, unlike the digest of a delivery.
    const effect = effectKey(event);
    if (effect === undefined) throw new Error('the event names no order');
    const url = `https://accounts/credited/${encodeURIComponent(event.partner_order_id)}`;
    const headers = { 'idempotency-key': effect };
    const reply = await ACCOUNTS.fetch(url, { method: 'POST', headers, signal: signal ?? null });
    if (!reply.ok) throw new Error(`accounts answered ${reply.status}`);
  });
  return { inbox, webhooks };
}

export default {
  fetch: (request: Request, env: Environment) => open(env).webhooks.fetch(request),

  async queue({ messages }: MessageBatch, env: Environment): Promise<void> {
    const { inbox } = open(env);
    await Promise.all(
      messages.map(async (message) => {
        const result = await inbox.handleMessage(message.body, { attempt: message.attempts });
        if (result === 'done') message.ack();
        else message.retry(); // after max_retries it goes to the dead letter queue
      }),
    );
  },
};
