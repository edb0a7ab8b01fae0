import type { JsonValue } from '../../internal/json.ts';
import type { ProcessView } from '../../store/process-identity.ts';
import type { DeliveryStep, DeliveryStory } from '../inbox.ts';
import { membersOf } from '../stored-delivery.ts';
import { deliveryIndex, type IndexOptions, indexPrefix } from './delivery-index.ts';
import { deliveryKey, readStored, type Stored } from './record-form.ts';

const beginningForm = /^[0-9a-f]{1,64}$/;
const mostRead = 100;
/** Of a record store. */
const largestPage = 1_000;
const stepNames: Readonly<Record<DeliveryStep['what'], true>> = {
  failed: true,
  'put-back': true,
  'lease-lost': true,
  dead: true,
  replayed: true,
};

/** What the records of an inbox tell a person. It changes nothing. */
export function deliveryStories(options: IndexOptions & { readonly processes: ProcessView }) {
  const { store, prefix, processes } = options;
  const alone = deliveryIndex('alone', options);
  const digestOf = (key: string) => key.slice(deliveryKey(prefix, '').length);

  function toStory(stored: Stored): DeliveryStory {
    const { delivery, receivedAt, attempts, isolated, lease, holder, reason, index, steps = [] } = stored;
    const isDead = index.startsWith(indexPrefix(prefix, 'dead'));
    const dueAt = Number(index.split('/').at(-2));
    return {
      digest: delivery.digest,
      state: isDead ? 'dead' : lease !== undefined ? 'held' : 'waiting',
      name: delivery.name,
      receivedAt: new Date(receivedAt),
      attempts,
      ...(!isDead && { dueAt: new Date(dueAt) }),
      isAlone: isolated,
      ...(holder && {
        holder: { pid: holder.pid, space: holder.space, hasEnded: processes.hasEnded(holder) },
      }),
      reason,
      steps: steps.flatMap(readStep),
    };
  }

  return {
    /** Of the deliveries whose digests begin so. */
    async find(beginning: string, limit: number): Promise<DeliveryStory[]> {
      if (!beginningForm.test(beginning)) return [];
      const found = await store.list({
        prefix: deliveryKey(prefix, beginning),
        limit: Math.min(limit, largestPage),
      });
      return found.flatMap(({ key, value }): DeliveryStory[] => {
        const stored = readStored(value);
        if (stored !== undefined) return [toStory(stored)];
        const isHandled = membersOf(value).handled === true;
        return isHandled ? [{ digest: digestOf(key), state: 'handled', steps: [] }] : [];
      });
    },

    /** Of those that are leased, by the end of their leases. */
    async held(limit: number): Promise<DeliveryStory[]> {
      const held: DeliveryStory[] = [];
      for await (const entries of alone.pages(mostRead, Number.POSITIVE_INFINITY)) {
        const keys = entries.map(({ digest }) => deliveryKey(prefix, digest));
        for (const value of await store.transact(keys, (records) => keys.map((key) => records.get(key)))) {
          const stored = readStored(value);
          if (stored?.lease !== undefined) held.push(toStory(stored));
          if (held.length === limit) return held;
        }
      }
      return held;
    },
  };
}

/** Nothing for a step that this version does not know. */
function readStep(value: JsonValue): DeliveryStep[] {
  const { at, what, attempt, code } = membersOf(value);
  if (!isStepName(what)) return [];
  const step = { at: new Date(Number(at)), what, attempt: Number(attempt) };
  return [typeof code === 'string' ? { ...step, code } : step];
}

function isStepName(what: unknown): what is DeliveryStep['what'] {
  return typeof what === 'string' && Object.hasOwn(stepNames, what);
}
