import type { Deployment } from '../../../deployment/define-deployment.ts';
import { isDenial } from '../../../deployment/denying-members.ts';
import { type Operation, operationNames, operationRules } from '../../../deployment/operations.ts';
import { acceptingForm } from '../../../deployment/order-reply.ts';
import { shapeOfReply } from '../../../deployment/reply-shape.ts';
import { isJsonObject } from '../../../internal/json.ts';
import { type RowObservation, speaksAgainst, speaksFor } from './evidence.ts';

/**
 * A reply of the service, or an attempt without one: what `onResponse` and `onNoResponse` of the clients get, or one line
 * of JSON that keeps it. Each member is as there.
 */
export interface CapturedReply {
  /** Which call it was. */
  readonly operation: string;
  /** Where it went. */
  readonly url?: string | undefined;
  /** HTTP status; `undefined` if there was no reply. */
  readonly status?: number | undefined;
  /** Headers of the reply. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The shape of the body. Of a whole body the shape is taken. */
  readonly shape?: unknown;
  /** Why there is no body. */
  readonly failure?: string | undefined;
  /** When it ended, in ISO 8601. */
  readonly at?: string | undefined;
  /** How long it took, in milliseconds. */
  readonly durationMs?: number | undefined;
  /** The digest of the order's id. */
  readonly order?: string | undefined;
  /** The digest of the key. */
  readonly key?: string | undefined;
}

/** The reply with the shape of its body; `undefined` for anything else. */
export function readCapturedReply(given: unknown): CapturedReply | undefined {
  if (!isJsonObject(given)) return undefined;
  const { operation, url, status, headers, shape, failure, at, durationMs, order, key } = given;
  const isKnown = operationNames.some((name) => name === operation);
  if (!isKnown || typeof operation !== 'string') return undefined;
  if (status === undefined ? typeof given.code !== 'string' : !isStatus(status)) return undefined;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    operation,
    url: text(url),
    status: isStatus(status) ? status : undefined,
    // Sound: the values are only looked at for being there.
    headers: isJsonObject(headers) ? (headers as Record<string, string>) : undefined,
    shape: shapeOfReply(shape),
    failure: text(failure),
    at: text(at),
    durationMs: typeof durationMs === 'number' && durationMs >= 0 ? durationMs : undefined,
    order: text(order),
    key: text(key),
  };
}

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599;
}

export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Whether a body denies what was asked for. */
export function denies(shape: unknown): boolean {
  return isDenial(shape);
}

/** What the calls before a reply came to. */
export interface CallHistory {
  /** What is configured. */
  readonly deployment: Pick<Deployment<unknown>, 'paths' | 'readMessageReply'>;
  readonly whitelistings: number;
  /** When the service took a regeneration under a key, and whether a newer key has worked since. */
  readonly regenerations: ReadonlyMap<string, { readonly at: number; readonly isFollowed: boolean }>;
}

const maxRegenerations = 100;

export function createCallHistory(deployment: CallHistory['deployment']) {
  const regenerations = new Map<string, { at: number; isFollowed: boolean }>();
  const history = { deployment, whitelistings: 0, regenerations };
  return {
    history,
    note({ operation, status = 0, shape, key, at }: CapturedReply): void {
      if (!isSuccessStatus(status) || denies(shape)) return;
      if (operation === 'whitelistIp') history.whitelistings++;
      if (key === undefined || !isSignedByPartner(operation)) return;
      const time = Date.parse(at ?? '');
      if (!regenerations.has(key)) for (const one of regenerations.values()) one.isFollowed ||= time > one.at;
      if (operation !== 'regenerateKeys' || regenerations.has(key) || Number.isNaN(time)) return;
      if (regenerations.size < maxRegenerations) regenerations.set(key, { at: time, isFollowed: false });
    },
  };
}

function isSignedByPartner(operation: string): boolean {
  // Sound: it was checked when the reply was read.
  return operationRules(operation as Operation).authorization === 'public-key';
}

const stillAliveMs = 3_600_000;

export function observeOldKeys(
  { operation, status = 0, shape, key = '', at = '' }: CapturedReply,
  { regenerations }: CallHistory,
): RowObservation | undefined {
  const regeneration = regenerations.get(key);
  if (regeneration === undefined || !isSignedByPartner(operation)) return undefined;
  if (status === 401 || status === 403) return speaksFor(String(status));
  if (!isSuccessStatus(status) || denies(shape) || !regeneration.isFollowed) return undefined;
  return Date.parse(at) - regeneration.at >= stillAliveMs
    ? speaksAgainst('old keys work an hour later, and so do newer ones')
    : undefined;
}

/** Whether the service knows the path of an operation, and whether it is the configured one. */
export function observePath(asked: Operation) {
  return (
    { operation, url = '', status = 0, shape }: CapturedReply,
    { deployment: { paths }, whitelistings }: CallHistory,
  ): RowObservation | undefined => {
    if (operation !== asked) return undefined;
    const isConfigured = !URL.canParse(url) || new URL(url).pathname.endsWith(paths[asked] ?? '');
    if (isSuccessStatus(status) && !denies(shape))
      return isConfigured
        ? speaksFor(String(status))
        : { ...speaksAgainst(`${status} at another path`), isFact: true };
    // An address that is not whitelisted may be answered so too.
    const isMissing = isConfigured && whitelistings > 0 && (status === 404 || status === 405);
    return isMissing ? speaksAgainst(String(status)) : undefined;
  };
}

export function observeTakenOrder({
  operation,
  status = 0,
  shape,
}: CapturedReply): RowObservation | undefined {
  return operation === 'createOrder' && isSuccessStatus(status) && !denies(shape)
    ? speaksFor(String(status))
    : undefined;
}

/**
 * No reply shows whether a message came: one that the deployment accepts speaks for it, and a text that nobody can read
 * against it. A denial leaves it open, until a person has looked at the phone.
 */
export function observeMessageReply(
  { operation, status = 0, shape }: CapturedReply,
  { deployment }: CallHistory,
): RowObservation | undefined {
  if (operation !== 'sendMessage' || !isSuccessStatus(status)) return undefined;
  const reply = { status, headers: new Headers(), body: shape };
  const verdict = readQuietly(() => deployment.readMessageReply(reply));
  const found = `${status}, ${denies(shape) ? 'JSON that denies' : (acceptingForm(shape) ?? 'JSON')}`;
  if (verdict === 'accepted') return speaksFor(found);
  return verdict === 'unknown' ? speaksAgainst(found) : { speaks: 'open', found };
}

/** A function of the user's may need a whole body. */
export function readQuietly(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

export function observeRateLimit({
  operation,
  status,
  headers = {},
}: CapturedReply): RowObservation | undefined {
  if (status !== 429) return undefined;
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === 'retry-after');
  return speaksFor(`${operation}: 429 ${isNamed ? 'with' : 'without'} Retry-After`);
}
