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

  /** Warns once per subject: otherwise anybody who can reach the address could fill the log. */
  function warnOnce(subject: string, message: () => string): void {
    // An authentic sender may name many events.
    if (warned.has(subject) || warned.size >= mostWarned) return;
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
    /** A handler or the inbox failed. A stopped inbox fails each delivery in the same way, so it is said once. */
    error(error: unknown, delivery: DeliveryReference): void {
      if (isInboxError(error) && error.code === 'inbox_stopped') {
        warnOnce(error.code, () => `A webhook delivery was not handled ${laterOnes}: ${error.message}`);
      } else call('onError', () => onError(error, delivery));
    },
    /** An authentic event cannot be read here. Its error names an order, so the warning has the causes alone. */
    unrecognized(name: string, error: InboxError): void {
      const what = `An authentic ${quotedName(name)} could not be read (${error.assumptions.join(', ')}): a dead letter with a durable inbox, otherwise answered 500.`;
      warnOnce(what, () => composeMessage({ what, remedy: partsOf(error).remedy }, error.code));
    },
    /** A request was refused unread: its code says why. */
    refusal(code: RequestRefusalCode): void {
      const remedy = requestRefusalRemedies[code];
      warnOnce(code, () => `${refused}: ${composeMessage({ what: code, remedy }, code)}`);
    },
    /** A body is not authentic. */
    refusedBody(rawBody: string | Uint8Array, error: SignatureError): void {
      const { code } = error;
      const remedy = code.startsWith('body_') ? partsOf(error).remedy : captureIt;
      warnOnce(code, () => `${refused}: ${composeMessage({ what: whatFailed(error), remedy }, code)}`);
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

const mostWarned = 100;

const laterOnes = '(the next ones only reach onDelivery)';
const refused = `A webhook request was refused ${laterOnes}`;
const unverified = `A webhook delivery was answered 503 ${laterOnes}`;
const captureIt =
  'If the service sent it, capture its body with onRefused and give it to explainMismatch or learn of partner-exchange-sdk/diagnostics.';
