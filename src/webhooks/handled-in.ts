import type { HandleOptions } from '../inbox/inbox.ts';
import { invalidOption } from '../internal/options.ts';
import type { RecordStore } from '../store/record-store.ts';
import { userTransactionOf } from '../store/user-transaction.ts';

/**
 * `handledIn` of a handler's context. Where it rejects, nothing of the transaction can be committed: a handler that
 * catches the error must not commit its effect alone.
 *
 * @param mark absent from an inbox that cannot mark a delivery
 */
export async function handledIn(store: RecordStore, mark: HandleOptions['mark']): Promise<void> {
  const transaction = userTransactionOf(store);
  try {
    if (mark === undefined)
      throw invalidOption(
        'This inbox cannot mark a delivery in your transaction.',
        'Take storeInbox over postgresStore or sqliteStore, or sqliteInbox; or guard the effect by its effectKey.',
      );
    if (transaction === undefined || !(await transaction.isOpen()))
      throw invalidOption(
        'handledIn needs a store over a connection with an open transaction of yours.',
        'Begin it, and give postgresStore({ client }) or sqliteStore({ database }).',
      );
    await mark(store);
  } catch (error) {
    await transaction?.fail();
    throw error;
  }
}
