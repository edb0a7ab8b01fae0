import type { VerificationKey } from '../credentials/verification-keys.ts';
import { isInboxError, isKeyError, isSignatureError, type KeyErrorCode } from '../errors/errors.ts';
import type { Quarantine, UnverifiedText } from '../inbox/quarantine/quarantine.ts';
import { describeError } from '../internal/driver-error.ts';
import { hash } from '../internal/hash.ts';
import { isWholeProcess } from '../internal/runtime.ts';
import type { SignatureScheme } from '../signature/signature-scheme.ts';
import { decodeBody } from '../signature/signed-body.ts';
import { readUnverifiedBody, type UnverifiedBody } from '../signature/verify-body.ts';
import type { VerifyingRing } from './delivery-keys.ts';
import type { ReceiveOutcome } from './receive-outcome.ts';
import type { Reporting } from './reporting.ts';

interface QuarantineContext {
  readonly quarantine: Quarantine | undefined;
  readonly ring: VerifyingRing | undefined;
  readonly scheme: SignatureScheme;
  readonly reporting: Reporting;
  /** Hands a verified body to the inbox, like any other delivery. */
  accept(body: string, claimed: UnverifiedBody, key: VerificationKey): Promise<ReceiveOutcome>;
}

export type QuarantinedDeliveries = ReturnType<typeof quarantinedDeliveries>;

/** Bodies of a page: they have to fit into memory, and into one transaction. */
const pageSize = 300;
const reviewEveryMs = 2_000;
/**
 * While the keys stay the same, only a process with older keys can add a body that ours have signed. So all are compared
 * once a minute.
 */
const sameKeysEveryMs = 60_000;

/** The keys of the ring are there, and others may come. Without any keys nothing can be told. */
const mayMatchLater: Readonly<Partial<Record<KeyErrorCode, true>>> = {
  keys_not_received: true,
  keys_unconfirmed: true,
  keys_cooling_down: true,
  keys_not_loaded: true,
};

/**
 * Keeps deliveries that match no key while others are possible, and verifies them once the ring has other keys. Until
 * then nothing but `keep` and the comparison of signatures sees them.
 */
export function quarantinedDeliveries(context: QuarantineContext) {
  const { quarantine, ring, reporting } = context;
  if (quarantine === undefined || ring === undefined) {
    return { keep: async () => false, review: async () => {}, reviewIfChanged: () => {} };
  }
  const pass = reviewPass({ ...context, quarantine, ring });
  let last: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let seen: VerifyingRing['last'];
  let mayHoldSome = false;

  function warnFailed(error: unknown): void {
    reporting.warnOnce(
      'quarantine_failed',
      () =>
        `The quarantine of the inbox failed, and deliveries that cannot be verified yet may not be kept: ${describeError(error)}`,
    );
  }

  async function runPass(): Promise<void> {
    try {
      mayHoldSome = (await pass()) > 0;
    } catch (error) {
      if (isInboxError(error) && error.code === 'inbox_stopped') mayHoldSome = false;
      else if (!isKeyError(error)) warnFailed(error);
    }
    if (mayHoldSome) reviewSoon();
  }

  /** A call during a pass gets the next one: the keys may have changed since that one began. */
  function review(): Promise<void> {
    // A request that was cancelled never ends its work there.
    if (!isWholeProcess()) return runPass();
    waiting ??= last.then(() => {
      waiting = undefined;
      last = runPass();
      return last;
    });
    return waiting;
  }

  /** A process that gets no further delivery reviews too. */
  function reviewSoon(): void {
    if (!isWholeProcess() || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      void review();
    }, reviewEveryMs);
    timer.unref?.();
  }

  return {
    /** Whether the body is kept now. Never rejects: it is best effort. */
    async keep(received: string | Uint8Array, code: KeyErrorCode): Promise<boolean> {
      const partners = ring.last?.partners;
      if (mayMatchLater[code] !== true || partners === undefined) return false;
      try {
        const body = decodeBody(received);
        const digest = hash('sha256', `${partners}:${body}`, 'hex');
        const result = await quarantine.keep({ digest, body, partners });
        mayHoldSome = true;
        reviewSoon();
        if (result === 'full') reporting.warnOnce('quarantine_full', () => fullQuarantine);
        return result !== 'full';
      } catch (error) {
        warnFailed(error);
        return false;
      }
    },
    /** Verifies what is kept, if the keys allow it. Never rejects. */
    review,
    /** Starts a review in the background, when the ring has other keys than at the last call. */
    reviewIfChanged(): void {
      if (ring.last === seen) return;
      seen = ring.last;
      void review();
    },
  };
}

const fullQuarantine =
  'The quarantine of the inbox is full, so the newest deliveries that cannot be verified yet are not kept (they are answered 503). Receive the new keys soon, or raise maxQuarantined of the inbox.';

type RefreshedKeys = Awaited<ReturnType<VerifyingRing['refresh']>>;

/** Goes once through what is kept. Resolves with the number of bodies that stay. */
function reviewPass({
  quarantine,
  ring,
  scheme,
  reporting,
  accept,
}: QuarantineContext & { readonly quarantine: Quarantine; readonly ring: VerifyingRing }) {
  /** The last pass that compared all bodies. */
  let complete: { readonly keys: RefreshedKeys; readonly at: number } | undefined;

  function isComplete({ sets, areSettled }: RefreshedKeys): boolean {
    if (complete === undefined || performance.now() - complete.at >= sameKeysEveryMs) return false;
    return complete.keys.sets === sets && complete.keys.areSettled === areSettled;
  }

  /** Whether the body need not be kept any longer. */
  async function settle({ body, partners }: UnverifiedText, keys: RefreshedKeys): Promise<boolean> {
    const claimed = readBody(body, scheme);
    const key = claimed && keys.match(claimed);
    if (claimed !== undefined && key !== undefined) {
      const outcome = await accept(body, claimed, key);
      const { name, digest } = outcome;
      reporting.delivery({ stage: 'quarantine', outcome: outcome.kind, name, digest });
      // The store is down for the others too.
      if (outcome.kind === 'unavailable') throw outcome.error;
      return outcome.status === 200;
    }
    // Those of other partners than ours are for their own receiver.
    const isForged = keys.areSettled && partners === keys.partners;
    if (isForged) {
      reporting.delivery({ stage: 'quarantine', outcome: 'refused', code: 'signature_mismatch' });
    }
    return isForged;
  }

  return async (): Promise<number> => {
    let left = 0;
    let first: RefreshedKeys | undefined;
    let page = await quarantine.list({ limit: pageSize });
    while (page.length > 0) {
      // After the list: keys that were read before a body arrived cannot prove it a forgery.
      const keys = await ring.refresh();
      first ??= keys;
      if (isComplete(first)) return page.length;
      const settled: string[] = [];
      try {
        for (const kept of page) {
          if (await settle(kept, keys)) settled.push(kept.digest);
          else left++;
        }
      } finally {
        // Only now: the inbox has them, and knows a repetition if this is interrupted.
        if (settled.length > 0) await quarantine.remove(settled);
      }
      page = await quarantine.list({ after: page.at(-1)?.digest, limit: pageSize });
    }
    // If the keys have changed since the first page, the next pass begins with others.
    if (first !== undefined) complete = { keys: first, at: performance.now() };
    return left;
  };
}

/** `undefined` if it cannot be read any more: the scheme of the deployment was changed. */
function readBody(body: string, scheme: SignatureScheme): UnverifiedBody | undefined {
  try {
    return readUnverifiedBody(body, scheme);
  } catch (error) {
    if (isSignatureError(error)) return undefined;
    throw error;
  }
}
