import {
  composeMessage,
  type InboxError,
  isInboxError,
  type KeyError,
  type KeyErrorCode,
  partsOf,
  type RequestRefusalCode,
  type SignatureError,
  type SignatureErrorCode,
  whatFailed,
} from '../errors/errors.ts';
import { requestRefusalRemedies } from '../errors/remedies.ts';
import { type EventReading, type ReadingKind, readingKind } from '../events/event-readings.ts';
import type { DeliveryReference } from '../inbox/inbox.ts';
import { describeError } from '../internal/driver-error.ts';
import { callHook, warn } from '../internal/warn.ts';
import { signatureMismatch } from '../signature/verify-body.ts';
import type { DeliveryReport } from './receive-outcome.ts';
import type { WebhooksSettings } from './webhooks-options.ts';

/** Informs the operator and the user's hooks. Nothing waits for a hook, and nothing here throws. */
export type Reporting = ReturnType<typeof makeReporting>;

export function makeReporting({
  onError,
  onDelivery,
  onRefused,
}: Pick<WebhooksSettings, 'onError' | 'onDelivery' | 'onRefused'>) {
  const warned = new Set<string>();
  let lastEventAt: number | undefined;

  /** Warns once per subject: otherwise anybody who can reach the address could fill the log. */
  function warnOnceOf(subject: WarningSubject, message: () => string): void {
    if (warned.has(subject)) return;
    warned.add(subject);
    warn(message());
  }

  function call(hook: HookName, run: () => unknown): void {
    callHook(`createWebhooks: ${hook}`, run, (message) => warnOnceOf(hook, () => message));
  }

  function capture(rawBody: string | Uint8Array, error: SignatureError): void {
    if (onRefused !== undefined) call('onRefused', () => onRefused({ rawBody, error }));
  }

  return {
    /** Milliseconds since an authentic event was received; `null` before the first. */
    lastEventAgeMs: () => (lastEventAt === undefined ? null : Math.round(performance.now() - lastEventAt)),
    /** The outcome of a request or of a stored delivery. */
    delivery(report: DeliveryReport): void {
      if (report.digest !== undefined && report.stage !== 'handle') lastEventAt = performance.now();
      if (onDelivery !== undefined) call('onDelivery', () => onDelivery(report));
    },
    /** Members of an authentic event were read that are in another form than the documented one. */
    readings(readings: readonly EventReading[]): void {
      for (const reading of readings) {
        const kind = readingKind(reading);
        warnOnceOf(kind, () => readingWarning(kind));
      }
    },
    /** A handler or the inbox failed. A stopped inbox fails each delivery in the same way, so it is said once. */
    error(error: unknown, delivery: DeliveryReference): void {
      if (isInboxError(error) && error.code === 'inbox_stopped') {
        warnOnceOf(error.code, () => stoppedWarning(error));
        return;
      }
      call('onError', () => onError(error, delivery));
    },
    /** A request was refused. */
    refusal(code: RequestRefusalCode, remedy: string = requestRefusalRemedies[code]): void {
      warnOnceOf(code, () => refusalWarning(composeMessage({ what: problems[code], remedy }, code)));
    },
    /** An authentic event is larger than what is handled. */
    tooLarge(): void {
      warnOnceOf('event_too_large', () => tooLargeWarning);
    },
    /** A body could not be verified. */
    refusedBody(rawBody: string | Uint8Array, error: SignatureError): void {
      warnOnceOf(error.code, () => bodyWarning(error));
      capture(rawBody, error);
    },
    /** A body that cannot be verified yet is not kept either, or what is kept cannot be verified. */
    quarantine(problem: QuarantineProblem, error?: unknown): void {
      warnOnceOf(`quarantine_${problem}`, () => quarantineWarnings[problem](error));
    },
    /** A body cannot be verified yet. Without any keys, their source has warned already. */
    unverified(rawBody: string | Uint8Array, error: KeyError): void {
      const { code } = error;
      if (code === 'keys_unavailable') return;
      // To the operator it is what it would be under settled keys: most likely it is forged, or the keys are wrong.
      if (code === 'keys_unconfirmed') warnOnceOf('signature_mismatch', () => unconfirmedWarning(error));
      else if (code !== 'keys_not_loaded') warnOnceOf(code, () => unverifiedWarning(error));
      // A sender may never send it again, so it can be kept.
      capture(rawBody, signatureMismatch());
    },
  };
}

type QuarantineProblem = keyof typeof quarantineWarnings;

const quarantineWarnings = {
  full: () =>
    'The quarantine of the inbox is full, so the newest deliveries that cannot be verified yet are not kept (they are answered 503). Receive the new keys soon, or raise maxQuarantined of the inbox.',
  failed: (error: unknown) =>
    `The quarantine of the inbox failed, and deliveries that cannot be verified yet may not be kept: ${describeError(error)}`,
} satisfies Record<string, (error: unknown) => string>;

type HookName = 'onError' | 'onDelivery' | 'onRefused';

type WarningSubject =
  | RefusalCode
  | KeyErrorCode
  | HookName
  | ReadingKind
  | 'inbox_stopped'
  | 'event_too_large'
  | `quarantine_${QuarantineProblem}`;

/** Why a request or its body was refused. */
type RefusalCode = SignatureErrorCode | RequestRefusalCode;

/** What is wrong with a refused request. */
const problems: Readonly<Record<RequestRefusalCode, string>> = {
  method_not_allowed: 'It was not a POST.',
  unsupported_media_type:
    'Its body is encoded (content-encoding or charset), for example compressed, and no JSON in UTF-8.',
  body_too_large: 'Its body is larger than maxBodyBytes (with an inbox, than 1 MiB if that is more).',
  body_timeout: 'Its body did not arrive within bodyTimeoutMs.',
  body_unreadable: 'Its caller broke off before its body was whole.',
  raw_body_required: 'Its body was parsed before its signature could be checked.',
};

const tooLargeWarning =
  'An authentic event is larger than maxBodyBytes, so no handler gets it, and it is a dead letter of the inbox (the next ones only reach onDelivery). Raise maxBodyBytes, and replay it.';

/** The warning for the first request or body that is refused with a code. It holds nothing of either. */
function refusalWarning(message: string): string {
  return `A webhook request was refused (the next ones only reach onDelivery): ${message}`;
}

const readMembers: Readonly<Record<ReadingKind, string>> = {
  'empty text': 'a KYC text is absent or null, and is read as an empty text',
  null: 'a member that may be null is absent, and is read as null',
  number: 'a documented number is decimal text, and is read as a number',
  text: 'a documented decimal text is a number, and is read as text',
  status: 'a status is in another case, and is read in the documented one',
  name: "the event has the name of the contract's other listing, and is read under its own",
};

/** The warning for the first event in which a member of a kind was read. It holds nothing of the body. */
function readingWarning(kind: ReadingKind): string {
  return `An authentic event is not in the documented form (event-readings in docs/assumptions.md): ${readMembers[kind]}. Each such member stands in readings of onDelivery and of the context; strict of createWebhooks refuses them.`;
}

/** The same for a body. What failed holds nothing of it. */
function bodyWarning(error: SignatureError): string {
  const remedy =
    'If the service sent it, capture its body with onRefused and give it to explainMismatch or detectScheme of partner-exchange-sdk/diagnostics.';
  return refusalWarning(composeMessage({ what: whatFailed(error), remedy }, error.code));
}

/** The warning for the first delivery that a stopped inbox did not take, or has cut off. */
function stoppedWarning({ message }: InboxError): string {
  return `A webhook delivery was not handled (the next ones only reach onDelivery): ${message}`;
}

/** The warning for the first delivery that matches no key while the newest ones may have been typed wrong. */
function unconfirmedWarning(error: KeyError): string {
  const mismatch = signatureMismatch();
  const remedy = partsOf(error).remedy;
  const what = `${whatFailed(mismatch)} ${whatFailed(error)}`;
  const message = composeMessage({ what, remedy }, mismatch.code);
  return `A webhook delivery was answered 503 (the next ones only reach onDelivery): ${message}`;
}

/** The warning for the first delivery that cannot be verified yet. */
function unverifiedWarning({ message }: KeyError): string {
  return `A webhook delivery was answered 503 (the next ones only reach onDelivery), since it matches none of the keys and newer ones are possible: ${message}`;
}
