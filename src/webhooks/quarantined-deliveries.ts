import type { VerificationKey } from '../credentials/verification-keys.ts';
import { isInboxError, isKeyError, isSignatureError } from '../errors/errors.ts';
import type { Quarantine, UnverifiedText } from '../inbox/quarantine/quarantine.ts';
import { describeError } from '../internal/driver-error.ts';
import { hash } from '../internal/hash.ts';
import { isWholeProcess } from '../internal/runtime.ts';
import type { SignatureScheme } from '../signature/signature-scheme.ts';
import { decodeBody } from '../signature/signed-body.ts';
import { readUnverifiedBody, type UnverifiedBody } from '../signature/verify-body.ts';
import type { RingKeys, VerifyingRing } from './delivery-keys.ts';
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

/** Bodies of a page: they have to fit into memory, and into one transaction. */
const pageSize = 300;
const reviewEveryMs = 2_000;
/**
 * While the keys stay the same, only a process with older keys can add a body that ours have signed. So all are compared
 * once a minute.
 */
const sameKeysEveryMs = 60_000;

type SettlingKeys = RingKeys & { readonly areSettled: boolean };

/**
 * Keeps deliveries that match no key while others are possible, and verifies them once the ring has other keys. Until
 * then nothing but `keep` and the comparison of signatures sees them.
 */
export function quarantinedDeliveries({ quarantine, ring, scheme, reporting, accept }: QuarantineContext) {
  if (quarantine === undefined || ring === undefined) {
    return { keep: async () => false, review: async () => {} };
  }
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let mayHoldSome = false;
  /** The last pass that compared all bodies. */
  let compared: { readonly keys: SettlingKeys; readonly at: number } | undefined;

  function areCompared({ sets, areSettled }: SettlingKeys): boolean {
    if (compared === undefined || performance.now() - compared.at >= sameKeysEveryMs) return false;
    return compared.keys.sets === sets && compared.keys.areSettled === areSettled;
  }

  /** Whether the body need not be kept any longer. */
  async function settle({ body, partners }: UnverifiedText, keys: SettlingKeys): Promise<boolean> {
    const claimed = readBody(body, scheme);
    const key = claimed && keys.match(claimed);
    if (claimed !== undefined && key !== undefined) {
      const { kind: outcome, name, digest, status, error } = await accept(body, claimed, key);
      reporting.delivery({ stage: 'quarantine', outcome, name, digest });
      // The store is down for the others too.
      if (outcome === 'unavailable') throw error;
      return status === 200;
    }
    // Those of other partners than ours are for their own receiver.
    const isForged = keys.areSettled && partners === keys.partners;
    if (isForged) {
      reporting.delivery({ stage: 'quarantine', outcome: 'refused', code: 'signature_mismatch' });
    }
    return isForged;
  }

  /** Goes once through what is kept. Resolves with whether some of it stays. */
  const pass = async (): Promise<boolean> => {
    let isLeft = false;
    let first: SettlingKeys | undefined;
    let page = await quarantine.list({ limit: pageSize });
    while (page.length > 0) {
      // After the list: keys that were read before a body arrived cannot prove it a forgery.
      const keys = await ring.refresh();
      first ??= keys;
      if (areCompared(first)) return true;
      const settled: string[] = [];
      for (const text of page) if (await settle(text, keys)) settled.push(text.digest);
      // Only now: the inbox has them, and knows a repetition if this is interrupted.
      if (settled.length > 0) await quarantine.remove(settled);
      isLeft ||= settled.length < page.length;
      page = await quarantine.list({ after: page.at(-1)?.digest, limit: pageSize });
    }
    // If the keys have changed since the first page, the next pass begins with others.
    if (first !== undefined) compared = { keys: first, at: performance.now() };
    return isLeft;
  };

  async function runPass(): Promise<void> {
    try {
      mayHoldSome = await pass();
    } catch (error) {
      if (isInboxError(error) && error.code === 'inbox_stopped') mayHoldSome = false;
      else if (!isKeyError(error)) warnFailed(reporting, error);
    }
    if (mayHoldSome) reviewSoon();
  }

  function review(): Promise<void> {
    // On workerd a request that was cancelled never ends its work.
    if (!isWholeProcess()) return runPass();
    running ??= runPass().finally(() => {
      running = undefined;
    });
    return running;
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
    /** Whether the body is kept now: not without keys that its names stand for. Never rejects: it is best effort. */
    async keep(received: string | Uint8Array): Promise<boolean> {
      const partners = ring.last?.partners;
      if (partners === undefined) return false;
      try {
        const body = decodeBody(received);
        const digest = hash('sha256', `${partners}:${body}`, 'hex');
        const result = await quarantine.keep({ digest, body, partners });
        mayHoldSome = true;
        reviewSoon();
        if (result !== 'full') return true;
        reporting.warnOnce(
          'quarantine_full',
          () =>
            'The quarantine of the inbox is full, so the newest deliveries that cannot be verified yet are not kept (they are answered 503). Receive the new keys soon, or raise maxQuarantined of the inbox.',
        );
        return false;
      } catch (error) {
        warnFailed(reporting, error);
        return false;
      }
    },
    /** Verifies what is kept, if the keys allow it. Never rejects. A call during a pass shares it. */
    review,
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

function warnFailed(reporting: Reporting, error: unknown): void {
  const what =
    'The quarantine of the inbox failed, and deliveries that cannot be verified yet may not be kept';
  reporting.warnOnce('quarantine_failed', () => `${what}: ${describeError(error)}`);
}
