import {
  isPartnerExchangeError,
  isRequestError,
  OtpError,
  partsOf,
  RequestError,
  whatFailed,
} from '../errors/errors.ts';
import { mapText } from '../errors/remedies.ts';
import { redactCredentials } from '../internal/redact-credentials.ts';
import { echoRedactor, redactReply } from '../internal/redact-echo.ts';
import { redactError } from '../internal/redact-error.ts';
import type { SendResult } from './devices.ts';

type Redact = (text: unknown) => string;

/** Longer than any message of our clients; another messenger's may be of any length. */
const maxReason = 1_000;

/**
 * The error for a message that was not sent or refused. Its message gives the reason, and its cause is the device's
 * error, so both are cleared of secrets.
 *
 * @param secrets the code and the phone number
 */
export function notSentError(
  { outcome, error, device, tried }: SendResult,
  secrets: readonly string[],
): OtpError {
  const cause = withoutSecrets(error, secrets);
  if (cause === undefined) {
    // No device was tried.
    return new OtpError('not_sent', 'The code expired before it could leave, and nothing was counted.', {
      remedy: 'Find out whether the process was suspended, and issue a new code.',
    });
  }
  const ours = isPartnerExchangeError(cause) ? cause : undefined;
  const reason = (ours ? whatFailed(ours) : cause.message).slice(0, maxReason);
  // Of the cause if it has any: that knows more than our table.
  const remedy = (ours && partsOf(ours).remedy) || undefined;
  if (outcome === 'refused') {
    const what = `The service does not take this phone number, and no code was sent: ${reason}`;
    return new OtpError('refused', what, { remedy, cause });
  }
  const last = tried > 1 ? ` (the last of ${tried} tried was device ${device})` : '';
  return new OtpError(
    'not_sent',
    `No device could send the code, and nothing was counted${last}: ${reason}`,
    {
      remedy,
      retryAfterMs: isRequestError(error) ? error.retryAfterMs : undefined,
      cause,
    },
  );
}

/**
 * The error itself, if it holds no secret, as those of our clients. Otherwise a copy of the same kind without them.
 */
function withoutSecrets(error: unknown, secrets: readonly string[]): Error | undefined {
  const redact = echoRedactor(secrets);
  if (error instanceof Error && isClean(error, redact)) return error;
  return isRequestError(error) ? copyOf(error, secrets, redact) : redactError(error, secrets);
}

/** An error that leads to more values than this (sockets, a whole client) is not searched, but copied. */
const maxSearched = 2_000;

function isClean(error: Error, redact: Redact): boolean {
  const found = new Set<unknown>([error]);
  try {
    // A Set also visits the values that are added meanwhile.
    for (const value of found) {
      if (found.size > maxSearched) return false;
      if (typeof value === 'object' && value !== null) {
        const inner = value instanceof Headers ? [...value] : [];
        for (const key of Reflect.ownKeys(value)) {
          const member = Reflect.get(value, key);
          found.add(String(key)).add(key === 'stack' ? withoutFrames(member) : member);
        }
        for (const each of inner) found.add(each);
      } else if (typeof value !== 'function' && redact(String(value)) !== String(value)) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** A stack without its frames: their line numbers can look like a code. */
function withoutFrames(stack: unknown): string {
  return String(stack).replaceAll(/^ +at .+$/gm, '');
}

function copyOf(error: RequestError, secrets: readonly string[], redact: Redact): RequestError {
  const { code, outcome, attempts, status, retryAfterMs, assumptions, headers, issues } = error;
  const shown = (text: unknown) => redactCredentials(redact(text));
  const cause = redactError(error.cause, secrets);
  const { what, remedy } = partsOf(error);
  const copy = new RequestError(code, mapText(what, shown), {
    remedy: mapText(remedy, shown),
    outcome,
    operation: shown(error.operation),
    method: shown(error.method),
    url: shown(error.url),
    attempts,
    assumptions,
    body: redactReply(error.body, redact),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(headers && {
      headers: new Headers([...headers].map(([name, value]): [string, string] => [name, shown(value)])),
    }),
    ...(issues && { issues: issues.map(({ message, path }) => ({ message: shown(message), path })) }),
    ...(cause && { cause }),
  });
  Object.defineProperty(copy, 'stack', { value: shown(error.stack) });
  return copy;
}
