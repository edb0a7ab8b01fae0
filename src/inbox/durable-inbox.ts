import { InboxError } from '../errors/inbox-error.ts';
import { invalidOption } from '../options/check-values.ts';
import {
  checkDeadLetterOptions,
  checkDeadLetterRead,
  type DeadLetterQuery,
  type DeadLetterRead,
} from './dead-letter-options.ts';
import type { Handling } from './handling-options.ts';
import type { Delivery, InboxHost } from './inbox.ts';
import type { DeadLetter, InboxCounts, ManagedInbox } from './managed-inbox.ts';

/** What a durable inbox needs from its engine. */
export interface InboxEngine {
  store(delivery: Delivery): Promise<'stored' | 'duplicate'>;
  /** Starts handling. Called at most once, and never with `role: 'receiver'`. */
  start(host: InboxHost): void;
  deadLetters(query: DeadLetterQuery): Promise<DeadLetter[]>;
  deadLetter(digest: string, read: DeadLetterRead): Promise<DeadLetter | undefined>;
  replay(digest: string): Promise<boolean>;
  discard(digest: string): Promise<boolean>;
  counts(): Promise<InboxCounts>;
  /** Called at most once; nothing is stored after it. */
  stop(timeoutMs: number): Promise<'drained' | 'cut-off'>;
}

const defaults = Object.freeze({ stopTimeoutMs: 10_000 });

/** An inbox on an engine. It belongs to one host, accepts nothing while it stops, and does nothing after that. */
export function durableInbox(engine: InboxEngine, { role }: Pick<Handling, 'role'>): ManagedInbox {
  let attached = false;
  let stopping: Promise<'drained' | 'cut-off'> | undefined;
  let stopped = false;

  function checkOpen(): void {
    if (stopped) throw inboxStopped();
  }

  return {
    role,
    attach(host) {
      if (attached) throw invalidOption('An inbox belongs to one createWebhooks: make another one.');
      attached = true;
      if (role === 'both') engine.start(host);
    },
    async receive(delivery) {
      if (stopping !== undefined) throw inboxStopped();
      return await engine.store(delivery);
    },
    async deadLetters(options) {
      checkOpen();
      return await engine.deadLetters(checkDeadLetterOptions(options));
    },
    async deadLetter(digest, options) {
      checkOpen();
      return await engine.deadLetter(checkDigest(digest), checkDeadLetterRead(options));
    },
    async replay(digest) {
      checkOpen();
      return await engine.replay(checkDigest(digest));
    },
    async discard(digest) {
      checkOpen();
      return await engine.discard(checkDigest(digest));
    },
    async counts() {
      checkOpen();
      return await engine.counts();
    },
    stop({ timeoutMs = defaults.stopTimeoutMs } = {}) {
      stopping ??= engine.stop(timeoutMs).finally(() => {
        stopped = true;
      });
      return stopping;
    },
  };
}

/** From JavaScript it may be missing: pg-boss, asked for no digest, would find every dead letter. */
function checkDigest(digest: unknown): string {
  if (typeof digest === 'string') return digest;
  throw invalidOption('digest must be the digest of a dead letter, which is a string.');
}

function inboxStopped(): InboxError {
  return new InboxError('inbox_stopped', 'The inbox was stopped.');
}
