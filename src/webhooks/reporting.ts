import {
  composeMessage,
  type InboxError,
  isInboxError,
  type KeyError,
  partsOf,
  type RequestRefusalCode,
  type SignatureError,
  whatFailed,
} from '../errors/errors.ts';
import { requestRefusalRemedies } from '../errors/remedies.ts';
import type { EventReading } from '../events/event-readings.ts';
import type { DeliveryReference } from '../inbox/inbox.ts';
import { describeError } from '../internal/driver-error.ts';
import { quotedName } from '../internal/printable-text.ts';
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
  const unreadNames = new Set<string>();

  /** Warns once per subject: otherwise anybody who can reach the address could fill the log. */
  function warnOnceOf(subject: string, message: () => string): void {
    if (warned.has(subject)) return;
    warned.add(subject);
    warn(message());
  }

  function call(hook: 'onError' | 'onDelivery' | 'onRefused', run: () => unknown): void {
    callHook(`createWebhooks: ${hook}`, run, (message) => warnOnceOf(hook, () => message));
  }

  function capture(rawBody: string | Uint8Array, error: SignatureError): void {
    if (onRefused !== undefined) call('onRefused', () => onRefused({ rawBody, error }));
  }

  return {
    /** The outcome of a request or of a stored delivery. */
    delivery(report: DeliveryReport): void {
      if (onDelivery !== undefined) call('onDelivery', () => onDelivery(report));
    },
    /** Members of an authentic event were read that are in another form than the documented one. */
    readings(readings: readonly EventReading[]): void {
      for (const { path, readAs } of readings) {
        warnOnceOf(
          readAs,
          () =>
            `An authentic event is not in the documented form (event-readings in docs/assumptions.md): ${path.join('.')} was read as ${readAs}. Each such member stands in readings of onDelivery and of the context.`,
        );
      }
    },
    /** A handler or the inbox failed. A stopped inbox fails each delivery in the same way, so it is said once. */
    error(error: unknown, delivery: DeliveryReference): void {
      if (isInboxError(error) && error.code === 'inbox_stopped') {
        warnOnceOf(error.code, () => `A webhook delivery was not handled ${laterOnes}: ${error.message}`);
      } else call('onError', () => onError(error, delivery));
    },
    /** Nobody here can read an authentic event. Its error names an order, so the warning has the causes alone. */
    unrecognized(name: string, error: InboxError): void {
      const { assumptions, code } = error;
      // An authentic sender may still send many names.
      if (unreadNames.has(name) || unreadNames.size >= 100) return;
      unreadNames.add(name);
      const what = `An authentic ${quotedName(name)} could not be read (${assumptions.join(', ')}): a dead letter with a durable inbox, otherwise answered 500.`;
      warn(composeMessage({ what, remedy: partsOf(error).remedy }, code));
    },
    /** A request was refused unread. */
    refusal(code: RequestRefusalCode): void {
      const parts = { what: problems[code], remedy: requestRefusalRemedies[code] };
      warnOnceOf(code, () => `${refused}: ${composeMessage(parts, code)}`);
    },
    /** A body is not authentic. */
    refusedBody(rawBody: string | Uint8Array, error: SignatureError): void {
      const remedy = error.code.startsWith('body_') ? partsOf(error).remedy : captureIt;
      const parts = { what: whatFailed(error), remedy };
      warnOnceOf(error.code, () => `${refused}: ${composeMessage(parts, error.code)}`);
      capture(rawBody, error);
    },
    /** The quarantine has no room for a body that cannot be verified yet. */
    quarantineFull(): void {
      warnOnceOf(
        'quarantine_full',
        () =>
          'The quarantine of the inbox is full, so the newest deliveries that cannot be verified yet are not kept (they are answered 503). Receive the new keys soon, or raise maxQuarantined of the inbox.',
      );
    },
    /** A body that cannot be verified yet cannot be kept, or what is kept cannot be verified. */
    quarantineFailed(error: unknown): void {
      warnOnceOf(
        'quarantine_failed',
        () =>
          `The quarantine of the inbox failed, and deliveries that cannot be verified yet may not be kept: ${describeError(error)}`,
      );
    },
    /** A body cannot be verified yet. A ring that could not be read has warned already. */
    unverified(rawBody: string | Uint8Array, error: KeyError): void {
      const { code } = error;
      const mismatch = signatureMismatch();
      // To the operator it is what it would be under settled keys: most likely it is forged, or the keys are wrong.
      if (code === 'keys_unconfirmed') {
        const what = `${whatFailed(mismatch)} ${whatFailed(error)}`;
        const parts = { what, remedy: partsOf(error).remedy };
        warnOnceOf(mismatch.code, () => `${unverified}: ${composeMessage(parts, mismatch.code)}`);
      } else if (code !== 'keys_not_loaded') warnOnceOf(code, () => `${unverified}: ${error.message}`);
      // A sender may never send it again, so it can be kept.
      if (code !== 'keys_unavailable') capture(rawBody, mismatch);
    },
  };
}

const laterOnes = '(the next ones only reach onDelivery)';
const refused = `A webhook request was refused ${laterOnes}`;
const unverified = `A webhook delivery was answered 503 ${laterOnes}`;
const captureIt =
  'If the service sent it, capture its body with onRefused and give it to explainMismatch or learn of partner-exchange-sdk/diagnostics.';

/** What is wrong with a request that is refused unread. */
const problems: Readonly<Record<RequestRefusalCode, string>> = {
  method_not_allowed: 'It was not a POST.',
  body_too_large: 'Its body is larger than maxBodyBytes.',
  body_timeout: 'Its body did not arrive within bodyTimeoutMs.',
  body_unreadable: 'Its caller broke off before its body was whole.',
  raw_body_required: 'Its body was parsed before its signature could be checked.',
};
