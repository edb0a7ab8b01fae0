import { isRequestError, type MessengerClient } from 'partner-exchange-sdk';
import { isOnceError, once, type RecordStore } from 'partner-exchange-sdk/store';

/** What one sending to many numbers needs. Use a new `name` for each text. */
export interface Sending {
  readonly messenger: MessengerClient;
  readonly store: RecordStore;
  readonly name: string;
  readonly message: string;
  readonly numbers: Iterable<string>;
  /** Longer than a request can take, which is `totalTimeoutMs` of the client. @default 120000 */
  readonly leaseMs?: number;
}

/** Sends a text to each number once, in however many runs and processes, and yields how each number stands. */
export async function* sendToMany({ messenger, store, name, message, numbers, ...more }: Sending) {
  const { leaseMs = 120_000 } = more;
  for (const to_phone of numbers) {
    const send = () => messenger.sendMessage({ to_phone, message }).then(() => 'sent' as const);
    const outcomeOf = (error: unknown) => (isRequestError(error) ? error.outcome : 'unknown');
    try {
      yield { to_phone, state: await once(store, `${name}/${to_phone}`, send, { outcomeOf, leaseMs }) };
    } catch (error) {
      // 'in_progress': another process sends it. 'unknown': the text may have arrived, and no run repeats it.
      if (isOnceError(error)) yield { to_phone, state: error.code };
      else if (isRequestError(error)) yield { to_phone, state: error.outcome };
      else throw error;
    }
  }
}
