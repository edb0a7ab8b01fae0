import type { JsonObject } from '../../internal/json.ts';
import type { RecordSet, RecordStore } from '../../store/record-store.ts';
import { type KnownMembers, refuseNewer, unknownMembers } from '../../store/stored-form.ts';
import { type Handling, leaseMsOf } from '../handling-options.ts';
import type { Delivery, HandlingOutcome } from '../inbox.ts';
import { membersOf } from '../stored-delivery.ts';

interface Claim {
  readonly attempt: number;
  readonly alone: boolean;
  /** Not later than any claim of it: if the clock went back, its wait for a handler begins anew, so that it ends. */
  readonly receivedAt: number;
  readonly token: string;
}

/** The clocks of two machines are expected to differ by less than this. */
const clockSlackMs = 60_000;

/** How long other messages of a dead delivery wait: their attempts could end the process before the queue hears of it. */
const deadLeaseMs = 10_000;

/** What the record of a delivery says. */
interface Guard {
  readonly handled?: boolean;
  readonly attempts?: number;
  /** It lost a lease once, and runs alone from then on. */
  readonly alone?: boolean;
  readonly receivedAt?: number;
  readonly lease?: string;
  readonly leasedAt?: number;
  readonly until?: number;
}

const guardMembers: KnownMembers<Guard> = {
  handled: true,
  attempts: true,
  alone: true,
  receivedAt: true,
  lease: true,
  leasedAt: true,
  until: true,
};

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

  const read = (records: RecordSet, key: string) => refuseNewer(records.get(key), 'The record of a delivery');

  function put(records: RecordSet, key: string, guard: Guard & JsonObject): void {
    records.set(key, { ...unknownMembers(records.get(key), guardMembers), ...guard }, expiry());
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
      const token = crypto.randomUUID();
      return store.transact([key], (records) => {
        const { handled, attempts, lease, leasedAt, until, ...seen } = membersOf(read(records, key));
        if (handled === true) return 'handled';
        const at = Math.floor(now());
        // Judged by what is written in it, since another process may have another time limit. A lease from the future
        // was made before the clock went back.
        const isFromFuture = typeof leasedAt === 'number' && leasedAt > at + clockSlackMs;
        if (lease !== undefined && Number(until) > at && !isFromFuture) return 'busy';
        const ended = Number(attempts ?? 0);
        if (ended >= maxAttempts) {
          put(records, key, {
            ...{ attempts: 0, alone: true },
            ...{ lease: token, leasedAt: at, until: at + deadLeaseMs },
          });
          return 'lost';
        }
        if ((lease !== undefined || seen.alone === true) && !isAlone) return 'alone';
        const receivedAt = Math.min(Number(seen.receivedAt ?? sentAt), at);
        put(records, key, {
          ...{ attempts: isAlone ? ended + 1 : ended, alone: isAlone },
          ...{ lease: token, leasedAt: at, until: at + leaseMs, receivedAt },
        });
        return { attempt: ended + 1, alone: isAlone, token, receivedAt };
      });
    },

    settle(delivery: Delivery, claim: Claim, outcome: HandlingOutcome | 'cut-off'): Promise<void> {
      const key = keyOf(delivery);
      return store.transact([key], (records) => {
        const guard = membersOf(read(records, key));
        if (outcome === 'handled' || outcome === 'ignored') return put(records, key, { handled: true });
        // Another process has it by now.
        if (guard.lease !== claim.token) return;
        // A dead letter that comes again has all its attempts again; a stop is no attempt.
        const before = claim.attempt - 1;
        const attempts = { failed: claim.attempt, 'put-back': before, 'cut-off': before, dead: 0 }[outcome];
        put(records, key, { attempts, alone: claim.alone, receivedAt: claim.receivedAt });
      });
    },
  };
}
