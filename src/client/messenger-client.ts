import * as z from 'zod';
import { checkSecretText } from '../credentials/partner-credentials.ts';
import { type Deployment, requireDeployment } from '../deployment/define-deployment.ts';
import { toWireNames } from '../deployment/wire-names.ts';
import { ConfigurationError } from '../errors/errors.ts';
import type { JsonObject } from '../internal/json.ts';
import { defineOptions, type OptionTable, optional } from '../internal/options.ts';
import { makeCall } from './call.ts';
import type { CallOptions, ReplyBody, ReplySchema } from './call-options.ts';
import { checkInput } from './check-input.ts';
import { type ClientOptions, type ClientSettings, clientRows, clientSettings } from './client-options.ts';
import type { Reply } from './reply.ts';
import { sendCall } from './send-call.ts';

/** Options of a {@link MessengerClient}. */
export interface MessengerClientOptions extends ClientOptions {
  /** The service to call: made with `defineDeployment`. */
  deployment: Deployment<unknown>;
  /** Key of one messenger device; can also be given with each call. */
  apiKey?: string | undefined;
  /** The operator's secret; used only to generate API keys. */
  masterKey?: string | undefined;
}

/** The device that gets an API key. */
export interface ApiKeyRequest {
  /**
   * Any number, or a user id of your system; each is tied to one API key. A deployment can have another name for it
   * (ledger: `branded-names`).
   */
  messenger_device_no: string;
}

/** The device to pair. */
export interface DeviceKey {
  /**
   * Key of the messenger device; its form is not stated (ledger: `api-key-form`).
   * @default the client's `apiKey`
   */
  api_key?: string | undefined;
}

/** The number to check; the contract shows the API key only (ledger: `number-check`). */
export interface NumberCheckRequest extends DeviceKey {
  /** Phone number to check: digits, with or without a leading `+`. */
  to_phone: string;
}

/** The message to send. */
export interface MessageRequest extends DeviceKey {
  /** Phone number of the recipient: digits, with or without a leading `+` (ledger: `phone-form`). */
  to_phone: string;
  /** The text to send. */
  message: string;
  /** Passed on as given; the contract does not show what it means (ledger: `verify-check`). */
  verify_check?: boolean | undefined;
}

const readOptions = defineOptions('MessengerClient', {
  ...clientRows,
  // Sound: it checks anything.
  deployment: (given) => requireDeployment(given as Deployment<unknown>),
  apiKey: optional(checkSecretText),
  masterKey: optional(checkSecretText),
} satisfies OptionTable<MessengerClientOptions>);

const text = z.string().min(1);
const phone = z
  .string()
  .regex(
    /^\+?\d{5,20}$/,
    'must be digits, with or without a leading "+" (normalizePhone of partner-exchange-sdk/otp writes it so)',
  );
/** The schema of {@link ApiKeyRequest}. */
export const apiKeyRequest = z.looseObject({ messenger_device_no: text });
/** The schema of {@link NumberCheckRequest}. */
export const numberCheck = z.looseObject({ to_phone: phone, api_key: text.optional() });
/** The schema of {@link MessageRequest}. */
export const messageRequest = z.looseObject({
  to_phone: phone,
  message: text,
  verify_check: z.boolean().optional(),
  api_key: text.optional(),
});

/**
 * API keys, device pairing, number check and messages of the messenger service.
 *
 * @throws {ConfigurationError} from the constructor for unsound options
 * @example
 * ```ts
 * const messenger = new MessengerClient({ deployment, apiKey });
 * try {
 *   await messenger.sendMessage({ to_phone: '+2348012345678', message: 'Your code is 493021' });
 * } catch (error) {
 *   if (isRequestError(error)) console.error(error.outcome, error.message);
 * }
 * ```
 */
export class MessengerClient {
  readonly #own: Pick<MessengerClientOptions, 'deployment' | 'apiKey' | 'masterKey'>;
  readonly #client: ClientSettings;

  constructor(options: MessengerClientOptions) {
    const { deployment, apiKey, masterKey, ...shared } = readOptions(options ?? {});
    this.#own = { deployment, apiKey, masterKey };
    this.#client = clientSettings(shared);
  }

  /**
   * Creates an API key tied to a device number. Store what comes back: nothing lists generated keys. The master
   * key is the bare Authorization header, without `Bearer` (contract: Endpoints 6).
   *
   * @throws {ValidationError} before anything is sent
   * @throws {ConfigurationError} `not_configured` without a master key
   * @throws {RequestError}
   */
  async generateApiKey<Schema extends ReplySchema = undefined>(
    request: ApiKeyRequest,
    options: CallOptions<Schema> = {},
  ): Promise<Reply<ReplyBody<Schema>>> {
    const { deployment, masterKey } = this.#own;
    if (masterKey === undefined) {
      const what = 'generateApiKey needs the masterKey of MessengerClient.';
      throw new ConfigurationError('not_configured', what);
    }
    const checked = checkInput('generateApiKey', apiKeyRequest, request);
    const body = JSON.stringify(toWireNames(checked, deployment.wireNames));
    const call = makeCall(deployment, 'generateApiKey', { credential: masterKey, body, options });
    return await sendCall(call, this.#client);
  }

  /**
   * The address to open in a browser to pair the device (contract: Endpoints 7). It holds the API key: show it to the
   * device's owner only. It sends nothing, so a server that starts can check address and key by it.
   *
   * @throws {ConfigurationError} `not_configured` without an API key
   */
  scanDeviceUrl(device: DeviceKey = {}): string {
    const query = { api_key: this.#requireApiKey('scanDeviceUrl', device) };
    return makeCall(this.#own.deployment, 'scanDevice', { query, options: {} }).url;
  }

  /**
   * Asks whether a number is on the messenger. Its path is not published: set `paths.checkNumber` in
   * `defineDeployment` (contract: Endpoints 8; ledger: `number-check`). Members beyond `to_phone` and `api_key`
   * go into the query too.
   *
   * @throws {ConfigurationError} `not_configured` without a path or an API key
   * @throws {ValidationError} before anything is sent
   * @throws {RequestError}
   */
  async checkNumber<Schema extends ReplySchema = undefined>(
    request: NumberCheckRequest,
    options: CallOptions<Schema> = {},
  ): Promise<Reply<ReplyBody<Schema>>> {
    const apiKey = this.#requireApiKey('checkNumber', request);
    const { api_key: _, ...members } = checkInput('checkNumber', numberCheck, request);
    const query = { api_key: apiKey, ...queryOf(members) };
    const call = makeCall(this.#own.deployment, 'checkNumber', { query, secrets: [apiKey], options });
    return await sendCall(call, this.#client);
  }

  /**
   * Sends a message (contract: Endpoints 9). A message whose outcome is `unknown` is never sent again automatically.
   *
   * @throws {ConfigurationError} `not_configured` without an API key
   * @throws {ValidationError} before anything is sent
   * @throws {RequestError}
   */
  async sendMessage<Schema extends ReplySchema = undefined>(
    request: MessageRequest,
    options: CallOptions<Schema> = {},
  ): Promise<Reply<ReplyBody<Schema>>> {
    const apiKey = this.#requireApiKey('sendMessage', request);
    const checked = checkInput('sendMessage', messageRequest, request);
    const body = JSON.stringify(toWireNames({ ...checked, api_key: apiKey }, this.#own.deployment.wireNames));
    const secrets = [apiKey, request.message, ...codesIn(request.message)];
    const call = makeCall(this.#own.deployment, 'sendMessage', { body, secrets, options });
    return await sendCall(call, this.#client);
  }

  #requireApiKey(operation: string, device: DeviceKey): string {
    const given = device?.api_key ?? this.#own.apiKey;
    if (given !== undefined) return checkSecretText(given, 'api_key');
    throw new ConfigurationError('not_configured', `${operation} needs an API key, and was given none.`, {
      remedy: 'Give it as api_key, or as apiKey to MessengerClient.',
    });
  }
}

/** Text as it is, anything else as JSON. */
function queryOf(members: JsonObject): Record<string, string> {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

/** Words that may be a one-time code, to redact: with a digit, or in capitals. */
function codesIn(message: string): string[] {
  const words = message.match(/[\p{L}\p{N}-]+/gu) ?? [];
  return words.filter(
    (word) => word.length > 2 && (/\p{N}/u.test(word) || (/\p{Lu}/u.test(word) && !/\p{Ll}/u.test(word))),
  );
}
