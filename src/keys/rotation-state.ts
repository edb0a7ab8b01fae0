import { defineCredentials, plainCredentials } from '../credentials/define-credentials.ts';
import { type KeyOrigin, type PartnerCredentials, readOrigin } from '../credentials/partner-credentials.ts';
import { KeyError } from '../errors/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, tryParse } from '../internal/json.ts';
import { type KnownMembers, refuseNewer, unknownMembers } from '../store/stored-form.ts';

/** One set of keys that the service has issued. */
export interface Generation {
  /** Counts from 1, in the order in which they were received. */
  readonly number: number;
  /** Milliseconds since 1970, like all times here. */
  readonly receivedAt: number;
  readonly credentials: PartnerCredentials;
  /** When a delivery first matched them. Stored only of keys that were received after others. */
  readonly confirmedAt?: number | undefined;
  /** What a newer version has written beside these keys. It is kept, and may be secret. */
  readonly laterCredentials?: JsonObject | undefined;
}

/** Keys that were replaced, and may still verify. */
export interface RetiredGeneration extends Generation {
  readonly retiredAt: number;
  /** When a delivery last matched them, to within a while. */
  readonly matchedAt?: number | undefined;
}

export interface KeyRequest {
  readonly id: string;
  readonly at: number;
  /** Whether the service accepted it. If not, it may or may not have acted. */
  readonly answered: boolean;
}

/** Objects that were read also hold members of newer versions: copy one to change it. */
export interface RotationState {
  /** Written with the first keys, and never changed: all keys here are those of one partner. */
  readonly origin?: KeyOrigin | undefined;
  /** Signs. */
  readonly current?: Generation | undefined;
  /** Set from before the request until the keys are promoted. */
  readonly request?: KeyRequest | undefined;
  /** Received and not promoted. */
  readonly pending?: Generation | undefined;
  /** The newest first. */
  readonly retired: readonly RetiredGeneration[];
}

export function nextNumber({ current, pending, retired }: RotationState): number {
  return 1 + Math.max(0, ...[current, pending, ...retired].map((generation) => generation?.number ?? 0));
}

/** The state as text, secrets included. */
export function writeState({ origin, current, request, pending, retired, ...later }: RotationState): string {
  const state = {
    version,
    ...(origin && { origin }),
    ...(current && { current: writable(current) }),
    ...(request && { request }),
    ...(pending && { pending: writable(pending) }),
    retired: retired.map(writable),
    ...later,
  };
  return `${JSON.stringify(state, undefined, 2)}\n`;
}

/**
 * Reads the text by hand, since `./keys` must not load zod.
 *
 * @throws {KeyError} `key_storage_invalid`, without any of the text in its message
 * @throws {StoreError} `newer_format`
 */
export function readState(text: string | undefined): RotationState {
  if (text === undefined) return { retired: [] };
  const state = tryParse(text);
  if (!isJsonObject(state)) throw invalid('it is no JSON object');
  refuseNewer(state, 'The state of a key rotation');
  if (state.version !== version) throw invalid('it has another version');
  const { version: _, origin, current, request, pending, retired, ...later } = state;
  if (!Array.isArray(retired)) throw invalid('retired is not a list');
  return {
    ...later,
    origin: origin === undefined ? undefined : readStoredOrigin(origin),
    current: current === undefined ? undefined : readGeneration('current', current),
    request: request === undefined ? undefined : readRequest(request),
    pending: pending === undefined ? undefined : readGeneration('pending', pending),
    retired: retired.map((generation, index) => readRetired(`retired[${index}]`, generation)),
  };
}

function readStoredOrigin(value: JsonValue): KeyOrigin {
  const origin = readOrigin(value);
  if (origin === undefined) throw invalid('origin names no rotation');
  return { ...objectOf('origin', value), ...origin };
}

const version = 1;

/** The secrets of credentials are not enumerable, so they have to be named. */
function writable({ credentials, laterCredentials, ...generation }: Generation): object {
  return { ...generation, credentials: { ...laterCredentials, ...plainCredentials(credentials) } };
}

const credentialMembers: KnownMembers<PartnerCredentials> = {
  partnerPublicKey: true,
  partnerSecretKey: true,
  merchantSecretKey: true,
  merchantSecretKeys: true,
  partnerId: true,
  partnerCode: true,
};

function readGeneration(name: string, value: JsonValue): Generation {
  const { number, receivedAt, credentials, confirmedAt, ...later } = objectOf(name, value);
  return {
    ...later,
    number: numberOf(`${name}.number`, number),
    receivedAt: numberOf(`${name}.receivedAt`, receivedAt),
    ...readCredentials(`${name}.credentials`, credentials),
    ...(confirmedAt !== undefined && { confirmedAt: numberOf(`${name}.confirmedAt`, confirmedAt) }),
  };
}

function readRetired(name: string, value: JsonValue): RetiredGeneration {
  const { retiredAt, matchedAt } = objectOf(name, value);
  return {
    ...readGeneration(name, value),
    retiredAt: numberOf(`${name}.retiredAt`, retiredAt),
    ...(matchedAt !== undefined && { matchedAt: numberOf(`${name}.matchedAt`, matchedAt) }),
  };
}

function readRequest(value: JsonValue): KeyRequest {
  const { id, at, answered, ...later } = objectOf('request', value);
  if (typeof id !== 'string' || typeof answered !== 'boolean') throw invalid('request is malformed');
  return { ...later, id, at: numberOf('request.at', at), answered };
}

function readCredentials(
  name: string,
  value: JsonValue | undefined,
): Pick<Generation, 'credentials' | 'laterCredentials'> {
  const members = objectOf(name, value);
  const laterCredentials = unknownMembers(members, credentialMembers);
  try {
    // Sound: defineCredentials checks every member that is not left to a newer version.
    const known = unknownMembers(members, laterCredentials) as unknown as PartnerCredentials;
    return { credentials: defineCredentials(known), laterCredentials };
  } catch {
    throw invalid(`${name} are not credentials`);
  }
}

function objectOf(name: string, value: JsonValue | undefined): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalid(`${name} is not an object`);
}

function numberOf(name: string, value: JsonValue | undefined): number {
  if (typeof value === 'number') return value;
  throw invalid(`${name} is not a number`);
}

function invalid(what: string): KeyError {
  return new KeyError('key_storage_invalid', `The stored text is not the state of a key rotation: ${what}.`);
}

/**
 * Keeps the keys of a rotation as one text. `storedKeys` makes one.
 *
 * The text holds secrets: it must be where only this program can read it.
 */
export interface KeyStorage {
  /** The text that was written last; `undefined` before the first. */
  read(): Promise<string | undefined>;
  /**
   * Reads the text, changes it and writes it; no process changes it in between. When the promise resolves, the text
   * survives a crash.
   *
   * @param change pure and synchronous: it may run more than once. Returns `undefined` to leave the text as it is. If it
   *   throws, nothing is written, and the promise rejects with what it threw
   */
  update(change: (text: string | undefined) => string | undefined): Promise<void>;
}
