import type { RequestErrorCode } from '../errors/errors.ts';
import { hash } from '../internal/hash.ts';
import { isJsonObject, type JsonValue } from '../internal/json.ts';
import { refuseNewer } from '../internal/stored-version.ts';
import { type KnownMembers, unknownMembers } from '../internal/unknown-members.ts';
import type { RecordStore } from '../store/record-store.ts';

/** What is known of a row whose message was tried. */
export interface Settled {
  readonly state: 'sent' | 'refused' | 'not-sent' | 'unknown';
  readonly attempts: number;
  readonly code?: RequestErrorCode;
  readonly status?: number;
}

/** Whether a row may be sent to its number. */
export type ClaimState =
  /** The row may be sent. After `claim` it is claimed, until this time. */
  | { readonly kind: 'free'; readonly attempts: number; readonly until?: number }
  /** Another process is sending this very row. */
  | { readonly kind: 'busy'; readonly attempts: number }
  | { readonly kind: 'settled'; readonly settled: Settled }
  | { readonly kind: 'duplicate' };

/** The record of a number, and the row that asks for it. */
export interface ClaimSubject {
  readonly key: string;
  readonly row: string;
}

/** The record of a number. It holds digests, and neither the number nor the text. */
interface ClaimRecord {
  readonly row: string;
  readonly state: 'claimed' | Settled['state'];
  readonly attempts: number;
  readonly owner?: string;
  readonly until?: number;
  readonly code?: RequestErrorCode;
  readonly status?: number;
}

const claimMembers: KnownMembers<ClaimRecord> = {
  row: true,
  state: true,
  attempts: true,
  owner: true,
  until: true,
  code: true,
  status: true,
};

/**
 * Which numbers of a campaign were sent to. A number is claimed before its request and settled after it. A claim that
 * its owner never settled is `unknown` once its lease is over.
 */
export function campaignClaims(options: {
  readonly store: RecordStore;
  readonly campaign: string;
  /** Differs between runs. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly rememberMs: number | undefined;
  readonly repeat: readonly string[];
  readonly now: () => number;
}) {
  const { store, campaign, owner, leaseMs, rememberMs, repeat, now } = options;
  const prefix = `bulk/${shortHash(campaign)}/`;

  /** @param earlierAttempt of this run, which may try again what it has not sent */
  function claimState(
    record: ClaimRecord | undefined,
    row: string,
    earlierAttempt: Settled | undefined,
  ): ClaimState {
    if (record === undefined) return { kind: 'free', attempts: 0 };
    const { attempts, code, status } = record;
    const isOwn = record.row === row;
    if (record.state === 'claimed' && (record.until ?? 0) > now()) {
      return isOwn && record.owner !== owner ? { kind: 'busy', attempts } : { kind: 'duplicate' };
    }
    const state = record.state === 'claimed' ? 'unknown' : record.state;
    const isUnfinished = isOwn && state === 'not-sent' && earlierAttempt?.attempts === attempts;
    if (isUnfinished || repeat.includes(state)) return { kind: 'free', attempts };
    if (!isOwn) return { kind: 'duplicate' };
    return {
      kind: 'settled',
      settled: { state, attempts, ...(code && { code }), ...(status && { status }) },
    };
  }

  function expiry(at: number): { expiresAt?: number } {
    // A clock may have fractions; the times of records have none.
    return rememberMs === undefined ? {} : { expiresAt: Math.floor(at) + rememberMs };
  }

  return {
    /** @param phone in E.164 */
    subject: (phone: string, row: string): ClaimSubject => ({
      // With the campaign in it: the same number has other digests in other campaigns.
      key: prefix + shortHash(`${campaign.length}:${campaign}${phone}`),
      row: shortHash(row),
    }),

    /** Reads without claiming: a row that is settled need not wait for its turn. */
    peek: ({ key, row }: ClaimSubject, earlierAttempt?: Settled): Promise<ClaimState> =>
      store.transact([key], (records) => claimState(toClaim(records.get(key)), row, earlierAttempt)),

    /** Claims the number if it is `free`. */
    claim: ({ key, row }: ClaimSubject, earlierAttempt?: Settled): Promise<ClaimState> =>
      store.transact([key], (records) => {
        const found = claimState(toClaim(records.get(key)), row, earlierAttempt);
        if (found.kind !== 'free') return found;
        const attempts = found.attempts + 1;
        const until = now() + leaseMs;
        // While it is being sent, no other run may take the number for a new one.
        const kept = unknownMembers(records.get(key), claimMembers);
        records.set(key, { ...kept, row, state: 'claimed', attempts, owner, until }, expiry(until));
        return { kind: 'free', attempts, until };
      }),

    /** Stores the result of a claim of this run. */
    settle: ({ key, row }: ClaimSubject, settled: Settled): Promise<void> =>
      store.transact([key], (records) => {
        // After the lease another run may have claimed it; then that run's result counts.
        const claim = records.get(key);
        if (toClaim(claim)?.owner !== owner) return;
        records.set(key, { ...unknownMembers(claim, claimMembers), row, ...settled }, expiry(now()));
      }),
  };
}

function toClaim(value: JsonValue | undefined): ClaimRecord | undefined {
  // Sound: only this file writes below its prefix.
  return isJsonObject(refuseNewer(value, 'The claim of a number'))
    ? (value as unknown as ClaimRecord)
    : undefined;
}

/** 128 bits, in hex. */
function shortHash(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}
