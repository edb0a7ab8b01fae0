import { isHeld, type Lease, takeLease } from '../../store/lease.ts';
import type { RecordSet, RecordStore } from '../../store/record-store.ts';
import { storedForm } from '../../store/stored-form.ts';
import { type Handling, leaseMsOf } from '../handling-options.ts';
import type { Delivery, HandlingOutcome } from '../inbox.ts';

interface Claim {
  readonly attempt: number;
  readonly alone: boolean;
  /** Not later than any claim of it: if the clock went back, its wait for a handler begins anew, so that it ends. */
  readonly receivedAt: number;
  readonly token: string;
}

/** How long other messages of a dead delivery wait: their attempts could end the process before the queue hears of it. */
const deadLeaseMs = 10_000;

/** What the record of a delivery says. */
interface Guard {
  readonly handled?: boolean;
  readonly attempts?: number;
  /** It lost a lease once, and runs alone from then on. */
  readonly alone?: boolean;
  readonly receivedAt?: number;
  /** The lease of its last attempt; once over, it was lost. */
  readonly lease?: Lease;
}

const guardForm = storedForm<Guard>('The record of a delivery', {
  handled: true,
  attempts: true,
  alone: true,
  receivedAt: true,
  lease: true,
});

interface GuardOptions extends Pick<Handling, 'maxAttempts' | 'timeLimitMs' | 'rememberMs' | 'now'> {
  readonly prefix: string;
}

/**
 * One record for each delivery, by its digest, which lasts for `rememberMs`: that it is in the queue, who handles it,
 * and in the end that it was handled. Nothing else of the delivery is in it.
 */
export function deliveryGuard(store: RecordStore, options: GuardOptions) {
  const { prefix, rememberMs, maxAttempts, now } = options;
  const leaseMs = leaseMsOf(options);
  const keyOf = ({ digest }: Delivery) => `${prefix}${digest}`;
  const expiry = () => ({ expiresAt: Math.min(Math.floor(now()) + rememberMs, Number.MAX_SAFE_INTEGER) });

  const read = (records: RecordSet, key: string) => guardForm.read(records.get(key));

  function put(records: RecordSet, key: string, guard: Guard): void {
    records.set(key, guardForm.write(guard, records.get(key)), expiry());
  }

  return {
    isKnown(delivery: Delivery): Promise<boolean> {
      const key = keyOf(delivery);
      return store.transact([key], (records) => read(records, key) !== undefined);
    },

    remember(delivery: Delivery): Promise<void> {
      const key = keyOf(delivery);
      return store.transact([key], (records) => {
        if (read(records, key) === undefined) put(records, key, { attempts: 0 });
      });
    },

    /**
     * `alone`: it lost a lease, so it has to run while nothing else does: claim it again then. A lease that is lost counts
     * as an attempt only if the delivery ran alone, since any of those that ran may have ended the process. `lost`: it has
     * no attempt left.
     */
    claim(
      delivery: Delivery,
      { sentAt, isAlone }: { readonly sentAt: number; readonly isAlone: boolean },
    ): Promise<Claim | 'handled' | 'busy' | 'alone' | 'lost'> {
      const key = keyOf(delivery);
      return store.transact([key], (records) => {
        const { handled, attempts = 0, lease, ...seen } = read(records, key) ?? {};
        if (handled === true) return 'handled';
        const at = Math.floor(now());
        // Judged by the lease itself, since another process may have another time limit.
        if (lease !== undefined && isHeld(lease, { now: at })) return 'busy';
        if (attempts >= maxAttempts) {
          put(records, key, {
            attempts: 0,
            alone: true,
            lease: takeLease({ now: at, leaseMs: deadLeaseMs }),
          });
          return 'lost';
        }
        if ((lease !== undefined || seen.alone === true) && !isAlone) return 'alone';
        const receivedAt = Math.min(seen.receivedAt ?? sentAt, at);
        const own = takeLease({ now: at, leaseMs });
        put(records, key, {
          attempts: isAlone ? attempts + 1 : attempts,
          alone: isAlone,
          receivedAt,
          lease: own,
        });
        return { attempt: attempts + 1, alone: isAlone, token: own.token, receivedAt };
      });
    },

    settle(delivery: Delivery, claim: Claim, outcome: HandlingOutcome | 'cut-off'): Promise<void> {
      const key = keyOf(delivery);
      return store.transact([key], (records) => {
        const guard = read(records, key);
        if (outcome === 'handled' || outcome === 'ignored') return put(records, key, { handled: true });
        // Another process has it by now.
        if (guard?.lease?.token !== claim.token) return;
        // A dead letter that comes again has all its attempts again; a stop is no attempt.
        const before = claim.attempt - 1;
        const attempts = { failed: claim.attempt, 'put-back': before, 'cut-off': before, dead: 0 }[outcome];
        put(records, key, { attempts, alone: claim.alone, receivedAt: claim.receivedAt });
      });
    },
  };
}
