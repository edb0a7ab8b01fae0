import { isConfigurationError } from '../errors/configuration-error.ts';
import { isRequestError, type RequestError } from '../errors/request-error.ts';
import { isValidationError } from '../errors/validation-error.ts';
import type { Settled } from './claims.ts';
import type { PacedDevice } from './device.ts';

/** What came of one message on one device. */
export interface SendOutcome {
  readonly state: Settled['state'];
  readonly error?: RequestError;
  /**
   * `again`: the service asked to slow down; nothing was sent. `device`: it refuses this device, not the message.
   * `run`: nothing can be sent at all.
   */
  readonly blame?: 'again' | 'device' | 'run';
  /** False if it is part of a failure that was counted: all that is under way is answered 429. @default true */
  readonly isCounted?: boolean;
  /** What ends the run. */
  readonly fatal?: unknown;
}

/** How long a device rests after 429 without `Retry-After`. */
const restMs = 30_000;

/** Sends a message, and pauses or stops the device if that is what the reply asks for. Never rejects. */
export async function sendRow(
  device: PacedDevice,
  { to_phone, message }: { readonly to_phone: string; readonly message: string },
): Promise<SendOutcome> {
  try {
    await device.messenger.sendMessage({ to_phone, message });
    return { state: 'sent' };
  } catch (error) {
    if (isRequestError(error)) return judge(error, device);
    // Thrown before anything is sent.
    if (isConfigurationError(error) || isValidationError(error)) {
      return { state: 'not_sent', blame: 'run', fatal: error };
    }
    return { state: 'unknown', blame: 'run', fatal: error };
  }
}

function judge(error: RequestError, device: PacedDevice): SendOutcome {
  switch (error.status) {
    case 429: {
      const isFirst = device.pause(error.retryAfterMs ?? restMs);
      return { state: 'not_sent', error, blame: 'again', isCounted: isFirst };
    }
    case 401:
    case 403:
      device.stop();
      return { state: 'not_sent', error, blame: 'device' };
    default:
      return { state: error.outcome === 'not-sent' ? 'not_sent' : error.outcome, error };
  }
}
