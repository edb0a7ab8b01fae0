import type { SandboxSettings } from '../settings/sandbox-options.ts';
import { Refusal } from '../wire/requests.ts';
import { randomToken, secretDigest } from '../wire/sandbox-secrets.ts';

/** A message that was sent. */
export interface SandboxMessage {
  /** The device that sent it. */
  readonly messenger_device_no: string;
  /** As given. */
  readonly to_phone: string;
  /** The text. */
  readonly message: string;
  /** As given; the sandbox ignores it. */
  readonly verify_check: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly sentAt: number;
}

interface Device {
  readonly digest: string;
  readonly number: string;
  readonly connected: boolean;
}

/** The messenger's devices and their API keys, and the last messages. */
export class MessengerRegistry {
  readonly #options: SandboxSettings;
  readonly #unreachable: ReadonlySet<string>;
  readonly #devices = new Map<string, Device>();
  readonly #messages: SandboxMessage[] = [];

  constructor(options: SandboxSettings) {
    this.#options = options;
    this.#unreachable = new Set(options.numbersNotOnMessenger.map(digitsOf));
  }

  /** The last messages, oldest first. */
  get messages(): readonly SandboxMessage[] {
    return [...this.#messages];
  }

  generate(deviceNumber: string): string {
    if ([...this.#devices.values()].some(({ number }) => number === deviceNumber)) {
      throw new Refusal(
        409,
        'device_has_key',
        'This device number has an API key, which is shown only once.',
      );
    }
    const apiKey = `API-X-${randomToken(this.#options.random, 16)}`;
    this.#save({ digest: secretDigest(apiKey), number: deviceNumber, connected: false });
    return apiKey;
  }

  scan(apiKey: string): void {
    this.#save({ ...this.#device(apiKey), connected: true });
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
    this.#messages.push(
      Object.freeze({ messenger_device_no: device.number, ...rest, sentAt: this.#options.now() }),
    );
    if (this.#messages.length > this.#options.maxRemembered) this.#messages.shift();
  }

  clear(): void {
    this.#devices.clear();
    this.#messages.length = 0;
  }

  #save(device: Device): void {
    this.#devices.set(device.digest, device);
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

/** The digits of a phone number in any notation. A query turns "+" into a blank. */
function digitsOf(phone: string): string {
  return phone.replace(/\D/g, '');
}
