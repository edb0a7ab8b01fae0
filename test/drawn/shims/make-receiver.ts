import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createKeyRing } from '../../../src/credentials/create-key-ring.ts';
import type { PartnerCredentials } from '../../../src/credentials/partner-credentials.ts';
import type { Inbox } from '../../../src/inbox/inbox.ts';
import { queueInbox } from '../../../src/inbox/queue/queue-inbox.ts';
import { sqliteInbox } from '../../../src/inbox/sqlite/sqlite-inbox.ts';
import { storeInbox } from '../../../src/inbox/store/store-inbox.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import { createWebhooks, type Webhooks, type WebhooksOptions } from '../../../src/webhooks/index.ts';
import { partnerCredentials } from '../partner.ts';
import { type Handled, type Receiver, type Recipe, registry } from './registry.ts';

interface RemadeInbox {
  readonly kind: Receiver['kind'];
  readonly inbox?: Inbox;
  readonly settle: Receiver['settle'];
  readonly stop: () => Promise<void>;
}

/**
 * The receiver of a program, for the partner of the tests: its own options and handlers, with an inbox of the same kind
 * that nobody has stopped yet.
 */
export function makeReceiver({ program, options, handlers }: Recipe, name: string): Receiver {
  const handled: Handled[] = [];
  const { kind, inbox, settle, stop } = remakeInbox(options, { name, handled });
  const webhooks = createWebhooks({
    ...options,
    ...(inbox !== undefined && { inbox }),
    credentials: credentialsFor(options.credentials),
    onError: () => {},
    onRefused: () => {},
  });
  for (const { method, given } of handlers) {
    const recorded = given.map((each) => (typeof each === 'function' ? record(method, each) : each));
    // Sound: the arguments are those that the program gave this method.
    (webhooks[method] as (...given: readonly unknown[]) => Webhooks)(...recorded);
  }
  return {
    program,
    fetch: webhooks.fetch,
    handled,
    kind,
    names: handlers.flatMap(({ method, given: [event] }) =>
      method === 'on' ? [String(event)] : method === 'onAny' ? ['*'] : [],
    ),
    ignoresOthers: handlers.some(({ given: [first] }) => first === 'ignore'),
    settle,
    stop,
  };

  function record(method: Handled['method'], handler: CallableFunction) {
    return async (...given: readonly unknown[]) => {
      await handler(...given);
      // Sound: every handler gets its context last.
      const { body } = given[1] as { body: { signature?: unknown } };
      handled.push({ method, signature: String(body.signature) });
    };
  }
}

type Credentials = WebhooksOptions['credentials'];

/** The program's own keys and those of the tests. A function is the program's own choice. */
function credentialsFor(given: Credentials): NonNullable<Credentials> {
  if (typeof given === 'function') return given;
  if (Array.isArray(given)) return [...given, partnerCredentials];
  if (typeof given === 'object' && 'partnerPublicKey' in given) {
    // Sound: a set of keys has this member, a ring does not.
    return [given as PartnerCredentials, partnerCredentials];
  }
  return createKeyRing({ load: () => partnerCredentials });
}

/** A long run takes longer than the ten minutes after which a worker may ignore what nobody registered for. */
const patient = { ignoreAfterMs: 86_400_000 };

/** Longer than any handler here takes. */
const settleMs = 60_000;

function remakeInbox(
  { inbox: given }: WebhooksOptions,
  { name, handled }: { name: string; handled: readonly Handled[] },
): RemadeInbox {
  const recipe = given === undefined ? undefined : registry.inboxes.get(given);
  if (recipe === undefined) {
    return { kind: 'none', settle: async () => ({ open: 0, dead: [] }), stop: async () => {} };
  }
  switch (recipe.kind) {
    case 'sqlite': {
      const inbox = sqliteInbox({
        ...recipe.options,
        ...patient,
        path: join(registry.folder, `${name}.sqlite`),
      });
      return {
        kind: 'sqlite',
        inbox,
        async settle(signatures) {
          const until = Date.now() + settleMs;
          let setAside: readonly string[] = [];
          for (;;) {
            const { open, dead } = await inbox.counts();
            // Thousands of bodies are not read again for nothing.
            if (dead !== setAside.length) {
              const letters = await inbox.deadLetters({ limit: dead, withBody: true });
              setAside = letters.map(({ body = '{}' }) => signatureOf(body));
            }
            const ended = new Set([...handled.map(({ signature }) => signature), ...setAside]);
            if (Date.now() > until || signatures.every((each) => ended.has(each))) {
              return { open, dead: setAside };
            }
            // real time: looks again until it is there.
            await pause(500);
          }
        },
        stop: async () => void (await inbox.stop({ timeoutMs: 0 })),
      };
    }
    case 'store': {
      const inbox = storeInbox({ ...recipe.options, ...patient, store: memoryStore() });
      return {
        kind: 'store',
        inbox,
        async settle() {
          const until = Date.now() + settleMs;
          if (recipe.options.role === 'drain') await inbox.drain({ timeLimitMs: settleMs });
          // real time: looks again until it is there.
          else while ((await inbox.counts()).open > 0 && Date.now() < until) await pause(100);
          const { open, dead } = await inbox.counts();
          const letters = await inbox.deadLetters({ limit: Math.max(dead, 1), withBody: true });
          return { open, dead: letters.map(({ body = '{}' }) => signatureOf(body)) };
        },
        stop: async () => void (await inbox.stop({ timeoutMs: 0 })),
      };
    }
    case 'queue': {
      const queue: string[] = [];
      const setAside: string[] = [];
      const inbox = queueInbox({
        ...recipe.options,
        ...patient,
        ...(recipe.options.store !== undefined && { store: memoryStore() }),
        send: async (message) => queue.push(JSON.stringify(message)),
      });
      return {
        kind: 'queue',
        inbox,
        async settle() {
          let open = 0;
          for (const message of queue.splice(0)) {
            const result = await inbox.handleMessage(message, { attempt: 1 });
            if (result === 'retry') {
              queue.push(message);
              open += 1;
            } else if (result === 'dead') {
              // Sound: the inbox wrote this message.
              setAside.push(signatureOf((JSON.parse(message) as { body: string }).body));
            }
          }
          return { open, dead: setAside };
        },
        stop: async () => void (await inbox.stop()),
      };
    }
  }
}

function signatureOf(text: string): string {
  // Sound: every body here is a signed object.
  return String((JSON.parse(text) as { signature?: unknown }).signature);
}
