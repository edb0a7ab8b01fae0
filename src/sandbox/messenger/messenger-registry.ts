import { Refusal } from '../http/refusal.ts';
import { type RandomBytes, randomToken, secretDigest } from '../secrets.ts';

/** A message that the messenger would have sent. */
export interface SandboxMessage {
  readonly messenger_device_no: string;
  readonly to_phone: string;
  readonly message: string;
  /** As given; the sandbox ignores it. */
  readonly verify_check: boolean | undefined;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

interface Device {
  readonly number: string;
  connected: boolean;
}

/** The messenger's devices, their API keys, and the messages sent through them. */
export class MessengerRegistry {
  readonly #random: RandomBytes;
  readonly #now: () => number;
  readonly #unreachable: ReadonlySet<string>;
  /** By digest of the API key. */
  readonly #devices = new Map<string, Device>();
  readonly messages: SandboxMessage[] = [];

  constructor(options: {
    random: RandomBytes;
    now: () => number;
    numbersNotOnMessenger: readonly string[];
  }) {
    this.#random = options.random;
    this.#now = options.now;
    this.#unreachable = new Set(options.numbersNotOnMessenger.map(digitsOf));
  }

  generate(deviceNumber: string): string {
    for (const { number } of this.#devices.values()) {
      if (number !== deviceNumber) continue;
      throw new Refusal(
        409,
        'device_has_key',
        'This device number has an API key, which is shown only once.',
      );
    }
    const apiKey = `API-X-${randomToken(this.#random, 16)}`;
    this.#devices.set(secretDigest(apiKey), { number: deviceNumber, connected: false });
    return apiKey;
  }

  scan(apiKey: string): void {
    this.#device(apiKey).connected = true;
  }

  isOnMessenger(apiKey: string, phone: string): boolean {
    this.#connected(apiKey);
    return !this.#unreachable.has(digitsOf(phone));
  }

  send(message: {
    api_key: string;
    to_phone: string;
    message: string;
    verify_check: boolean | undefined;
  }): void {
    const { api_key, ...rest } = message;
    const device = this.#connected(api_key);
    if (this.#unreachable.has(digitsOf(message.to_phone))) {
      throw new Refusal(422, 'number_not_on_messenger', 'The phone number is not on the messenger.');
    }
    this.messages.push(Object.freeze({ messenger_device_no: device.number, ...rest, sentAt: this.#now() }));
  }

  #connected(apiKey: string): Device {
    const device = this.#device(apiKey);
    if (device.connected) return device;
    throw new Refusal(
      409,
      'device_not_connected',
      'The device is not connected: scan it in a browser first.',
    );
  }

  #device(apiKey: string): Device {
    const device = this.#devices.get(secretDigest(apiKey));
    if (device === undefined) throw new Refusal(401, 'unknown_api_key', 'There is no such API key.');
    return device;
  }
}

/** In any notation: a "+" in a query is read as a blank. */
function digitsOf(phone: string): string {
  return phone.replace(/\D/g, '');
}
