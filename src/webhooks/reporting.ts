import type { KeyError, KeyErrorCode, SignatureError, SignatureErrorCode } from '../errors/errors.ts';
import type { DeliveryReference } from '../inbox/inbox.ts';
import { callHook, warn } from '../internal/warn.ts';
import { signatureMismatch } from '../signature/verify-body.ts';
import type { DeliveryReport, RequestRefusalCode } from './outcome.ts';
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
  function warnOnceOf(subject: RefusalCode | KeyErrorCode | HookName, message: () => string): void {
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
    /** The outcome of a request or of a stored delivery. */
    delivery(report: DeliveryReport): void {
      if (onDelivery !== undefined) call('onDelivery', () => onDelivery(report));
    },
    /** A handler or the inbox failed. */
    error(error: unknown, delivery: DeliveryReference): void {
      call('onError', () => onError(error, delivery));
    },
    /** A request was refused. */
    refusal(code: RequestRefusalCode, remedy?: string): void {
      warnOnceOf(code, () => requestWarning(code, remedy));
    },
    /** A body could not be verified. */
    refusedBody(rawBody: string | Uint8Array, error: SignatureError): void {
      warnOnceOf(error.code, () => bodyWarning(error));
      capture(rawBody, error);
    },
    /** A body cannot be verified yet. Without any keys, their source has warned already. */
    unverified(rawBody: string | Uint8Array, error: KeyError): void {
      const { code } = error;
      if (code === 'keys_unavailable') return;
      if (code !== 'keys_not_loaded') warnOnceOf(code, () => unverifiedWarning(error));
      // A sender may never send it again, so it can be kept.
      capture(rawBody, signatureMismatch());
    },
  };
}

type HookName = 'onError' | 'onDelivery' | 'onRefused';

/** Why a request or its body was refused. */
type RefusalCode = SignatureErrorCode | RequestRefusalCode;

/** What was wrong with a refused request, and what to do if it came from the service. */
const requestAdvice: Readonly<Record<RequestRefusalCode, string>> = {
  method_not_allowed: 'It was not a POST. Give health checks an address of their own.',
  unsupported_media_type:
    'Its content type is not JSON, or it is compressed: have a proxy set content-type: application/json and undo content-encoding.',
  body_too_large:
    'The body is larger than maxBodyBytes: raise maxBodyBytes if the service sends such bodies.',
  body_timeout: 'The body did not arrive within bodyTimeoutMs: look for what holds it back.',
  body_unreadable: 'The caller broke off before its body was whole: look at the time limits on the way.',
  raw_body_required: 'The body was parsed before its signature could be checked.',
};

/** The warning for the first request refused with a code. It holds nothing of the request. */
function requestWarning(code: RequestRefusalCode, remedy?: string): string {
  return warningText(code, remedy === undefined ? requestAdvice[code] : `${requestAdvice[code]} ${remedy}`);
}

/** The same for a body that could not be verified. The error's message holds nothing of the body. */
function bodyWarning({ code, message }: SignatureError): string {
  return warningText(
    code,
    `${message} If the service sent it, capture its body with onRefused and give it to explainMismatch or detectScheme ` +
      `of partner-exchange-sdk/diagnostics (docs/errors.md#${code}).`,
  );
}

/** The warning for the first delivery that could not be verified yet. */
function unverifiedWarning({ code, message }: KeyError): string {
  return (
    `A webhook delivery was answered 503 (${code}). Its signature matches none of the keys, and newer ones are ` +
    `possible. ${message} If the keys are right, it is a forgery. Further ones are reported to onDelivery alone.`
  );
}

function warningText(code: RefusalCode, advice: string): string {
  return `A webhook request was refused (${code}). ${advice} Further ones are reported to onDelivery alone.`;
}
