import { InboxError } from '../errors/errors.ts';
import { invalidOption } from '../internal/options.ts';
import type { RecordStore } from '../store/record-store.ts';

/** The result of a mark: `lost` if another worker has the delivery, `absent` if the store does not hold it. */
export type MarkResult = 'marked' | 'lost' | 'absent';

export type Marking = ReturnType<typeof makeMarking>;

/**
 * Marks the delivery of one attempt handled in a transaction of the user's.
 *
 * @param isThere whether the mark was committed
 */
export function makeMarking(
  write: (store: RecordStore) => Promise<MarkResult>,
  isThere: () => Promise<boolean>,
) {
  let isAsked = false;
  return {
    /** Whether the handler asked for it: from then on only the mark says whether the delivery is handled. */
    get isAsked() {
      return isAsked;
    },
    isThere,
    async mark(store: RecordStore): Promise<void> {
      isAsked = true;
      const result = await write(store);
      if (result === 'lost')
        throw new InboxError('lease_lost', 'Another worker has the delivery by now, or has handled it.');
      if (result === 'absent')
        throw invalidOption(
          'The store of handledIn does not hold this delivery.',
          "Give it a store over the inbox's own table: the same database, schema and table, or file.",
        );
    },
  };
}
