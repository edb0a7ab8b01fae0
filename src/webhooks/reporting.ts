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
  function warnOnce(subject: string, message: () => string): void {
    if (warned.has(subject)) return;
    warned.add(subject);
    warn(message());
  }

  function call(hook: 'onError' | 'onDelivery' | 'onRefused', run: () => unknown): void {
    callHook(`createWebhooks: ${hook}`, run, (message) => warnOnce(hook, () => message));
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
        warnOnce(
          readAs,
          () =>
            `An authentic event is not in the documented form (event-readings in docs/assumptions.md): ${path.join('.')} was read as ${readAs}. Each such member stands in readings of onDelivery and of the context.`,
        );
      }
    },
    /** A handler or the inbox failed. A stopped inbox fails each delivery in the same way, so it is said once. */
    error(error: unknown, delivery: DeliveryReference): void {
      if (isInboxError(error) && error.code === 'inbox_stopped') {
        warnOnce(error.code, () => `A webhook delivery was not handled ${laterOnes}: ${error.message}`);
      } else call('onError', () => onError(error, delivery));
    },
    /** An authentic event cannot be read here. Its error names an order, so the warning has the causes alone. */
    unrecognized(name: string, error: InboxError): void {
      const { assumptions, code } = error;
      // An authentic sender may still send many names.
      if (unreadNames.has(name) || unreadNames.size >= 100) return;
      unreadNames.add(name);
      const what = `An authentic ${quotedName(name)} could not be read (${assumptions.join(', ')}): a dead letter with a durable inbox, otherwise answered 500.`;
      warn(composeMessage({ what, remedy: partsOf(error).remedy }, code));
    },
    /** A request was refused unread: its code says why. */
    refusal(code: RequestRefusalCode): void {
      const parts = { what: code, remedy: requestRefusalRemedies[code] };
      warnOnce(code, () => `${refused}: ${composeMessage(parts, code)}`);
    },
    /** A body is not authentic. */
    refusedBody(rawBody: string | Uint8Array, error: SignatureError): void {
      const remedy = error.code.startsWith('body_') ? partsOf(error).remedy : captureIt;
      const parts = { what: whatFailed(error), remedy };
      warnOnce(error.code, () => `${refused}: ${composeMessage(parts, error.code)}`);
      capture(rawBody, error);
    },
    /** A body cannot be verified yet. A ring that could not be read has warned already. */
    unverified(rawBody: string | Uint8Array, error: KeyError): void {
      const { code } = error;
      if (code !== 'keys_not_loaded') warnOnce(code, () => `${unverified}: ${error.message}`);
      // A sender may never send it again, so it can be kept.
      if (code !== 'keys_unavailable') capture(rawBody, signatureMismatch());
    },
    warnOnce,
  };
}

const laterOnes = '(the next ones only reach onDelivery)';
const refused = `A webhook request was refused ${laterOnes}`;
const unverified = `A webhook delivery was answered 503 ${laterOnes}`;
const captureIt =
  'If the service sent it, capture its body with onRefused and give it to explainMismatch or learn of partner-exchange-sdk/diagnostics.';
