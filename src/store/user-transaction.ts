import type { RecordStore } from './record-store.ts';

/** Marks a store over a connection of the user's, so that it works across two copies of the package. */
const key = Symbol.for('partner-exchange-sdk.store.user-transaction');

/** The user's own transaction, which the changes of a store are part of. */
export interface UserTransaction {
  /** Nothing of the open transaction can be committed any more. */
  fail(): Promise<void>;
}

/** A store over a connection that its user opens transactions on. */
export function withUserTransaction(store: RecordStore, transaction: UserTransaction): RecordStore {
  return Object.assign(store, { [key]: transaction });
}

/** `undefined` for a store whose transactions are its own. */
export function userTransactionOf(store: RecordStore): UserTransaction | undefined {
  // Sound: only `withUserTransaction` writes it, of whichever copy of the package.
  return (store as { readonly [key]?: UserTransaction })[key];
}
