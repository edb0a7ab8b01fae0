import type { QueueInboxOptions, SqliteInboxOptions, StoreInboxOptions } from '../../../src/inbox/index.ts';
import type { WebhooksOptions } from '../../../src/webhooks/index.ts';

/** A receiver as a program makes it: the options of `createWebhooks`, and the handlers in their order. */
export interface Recipe {
  readonly program: string;
  readonly options: WebhooksOptions;
  readonly handlers: {
    readonly method: 'on' | 'onAny' | 'onUnrecognized';
    readonly given: readonly unknown[];
  }[];
}

/** How a program made its inbox. */
export type InboxRecipe =
  | { readonly kind: 'sqlite'; readonly options: SqliteInboxOptions }
  | { readonly kind: 'store'; readonly options: StoreInboxOptions }
  | { readonly kind: 'queue'; readonly options: QueueInboxOptions };

/** A handler that has come to its end. */
export interface Handled {
  readonly method: 'on' | 'onAny' | 'onUnrecognized';
  /** The signature of its delivery, which no other text has. */
  readonly signature: string;
}

/** A receiver made anew from its recipe, with an inbox of its own. */
export interface Receiver {
  readonly program: string;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly handled: readonly Handled[];
  readonly kind: InboxRecipe['kind'] | 'none';
  /** Names for which it has a handler; `*` for all. */
  readonly names: readonly string[];
  /** Whether it says that other names are to be ignored. */
  readonly ignoresOthers: boolean;
  /**
   * Waits until each of these deliveries is handled or set aside, at most a minute, and says what is kept: how many are
   * open, and which are set aside.
   */
  readonly settle: (
    signatures: readonly string[],
  ) => Promise<{ readonly open: number; readonly dead: readonly string[] }>;
  readonly stop: () => Promise<void>;
}

export interface Registry {
  readonly recipes: Recipe[];
  readonly inboxes: Map<object, InboxRecipe>;
  readonly servers: { close(): unknown }[];
  /** Where programs may write. */
  folder: string;
  makeReceiver?: (recipe: Recipe, name: string) => Receiver;
}

/** The programs are loaded by Node itself, not by vitest: both sides meet here. */
const key = Symbol.for('partner-exchange-sdk.test.drawn');
// Sound: nobody else uses this symbol.
const shared = globalThis as { [key]?: Registry };
shared[key] ??= { recipes: [], inboxes: new Map(), servers: [], folder: '' };
export const registry: Registry = shared[key];
