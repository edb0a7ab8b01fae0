import type { RequestErrorCode } from '../errors/request-error.ts';
import { isJsonObject, type JsonValue } from '../json/json-value.ts';
import { hash } from '../signature/hash.ts';
import type { RecordStore } from '../store/record-store.ts';

/** What is known of a row whose message was tried. */
export interface Settled {
  readonly state: 'sent' | 'refused' | 'not_sent' | 'unknown';
  readonly attempts: number;
  readonly code?: RequestErrorCode;
  readonly status?: number;
}

/** What a number of a campaign is to a row. */
export type ClaimView =
  /** The row may be sent; `claim` has noted that it is. */
  | { readonly kind: 'free'; readonly attempts: number }
  /** Another process is sending this very row. */
  | { readonly kind: 'busy'; readonly attempts: number }
  | { readonly kind: 'settled'; readonly settled: Settled }
  | { readonly kind: 'duplicate' };

/** A number of a campaign, and the row that asks. */
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
  readonly repeat: ReadonlySet<string>;
  readonly now: () => number;
}) {
  const { store, campaign, owner, leaseMs, rememberMs, repeat, now } = options;
  const prefix = `bulk/${shortHash(campaign)}/`;

  /** @param before what an attempt of this run came to: it may try again what it has not sent */
  function view(record: ClaimRecord | undefined, row: string, before: Settled | undefined): ClaimView {
    if (record === undefined) return { kind: 'free', attempts: 0 };
    const { attempts, code, status } = record;
    const isOwn = record.row === row;
    if (record.state === 'claimed' && (record.until ?? 0) > now()) {
      return isOwn && record.owner !== owner ? { kind: 'busy', attempts } : { kind: 'duplicate' };
    }
    const state = record.state === 'claimed' ? 'unknown' : record.state;
    const isUnfinished = isOwn && state === 'not_sent' && before?.attempts === attempts;
    if (isUnfinished || repeat.has(state.replace('_', '-'))) return { kind: 'free', attempts };
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

    /** Looks without claiming: what is settled need not wait for its turn. */
    look: ({ key, row }: ClaimSubject, before?: Settled): Promise<ClaimView> =>
      store.transact([key], (records) => view(toClaim(records.get(key)), row, before)),

    /** Claims the number if it is `free`. */
    claim: ({ key, row }: ClaimSubject, before?: Settled): Promise<ClaimView> =>
      store.transact([key], (records) => {
        const seen = view(toClaim(records.get(key)), row, before);
        if (seen.kind !== 'free') return seen;
        const at = now();
        const attempts = seen.attempts + 1;
        records.set(key, { row, state: 'claimed', attempts, owner, until: at + leaseMs }, expiry(at));
        return { kind: 'free', attempts };
      }),

    /** Notes what became of a claim of this run. */
    settle: ({ key, row }: ClaimSubject, settled: Settled): Promise<void> =>
      store.transact([key], (records) => {
        // Past its lease another run may have claimed it: then its result is the one that counts.
        if (toClaim(records.get(key))?.owner === owner) records.set(key, { row, ...settled }, expiry(now()));
      }),
  };
}

function toClaim(value: JsonValue | undefined): ClaimRecord | undefined {
  // Sound: only this file writes below its prefix.
  return isJsonObject(value) ? (value as unknown as ClaimRecord) : undefined;
}

/** 128 bits, in hex. */
function shortHash(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}
