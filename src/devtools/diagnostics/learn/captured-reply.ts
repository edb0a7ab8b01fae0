import type { Deployment } from '../../../deployment/define-deployment.ts';
import { isDenial } from '../../../deployment/denying-members.ts';
import { type Operation, operationNames } from '../../../deployment/operations.ts';
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
  /** The shape of the body. Of a whole body the shape is taken. */
  readonly shape?: unknown;
  /** Why there is no body. */
  readonly failure?: string | undefined;
  /** When it ended, in ISO 8601. */
  readonly at?: string | undefined;
  /** The digest of the order's id. */
  readonly order?: string | undefined;
}

/** The reply with the shape of its body; `undefined` for anything else. */
export function readCapturedReply(given: unknown): CapturedReply | undefined {
  if (!isJsonObject(given)) return undefined;
  const { operation, url, status, shape, failure, at, order } = given;
  const isKnown = operationNames.some((name) => name === operation);
  if (!isKnown || typeof operation !== 'string') return undefined;
  if (status === undefined ? typeof given.code !== 'string' : !isStatus(status)) return undefined;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    operation,
    url: text(url),
    status: isStatus(status) ? status : undefined,
    shape: shapeOfReply(shape),
    failure: text(failure),
    at: text(at),
    order: text(order),
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

/** Whether the service took a call at the configured path. */
export function observeTaken(asked: Operation) {
  return (
    { operation, url = '', status = 0, shape }: CapturedReply,
    { paths }: Pick<Deployment<unknown>, 'paths'>,
  ): RowObservation | undefined => {
    if (operation !== asked || !isSuccessStatus(status) || denies(shape)) return undefined;
    const isConfigured = !URL.canParse(url) || new URL(url).pathname.endsWith(paths[asked] ?? '');
    return isConfigured ? speaksFor(String(status)) : undefined;
  };
}

/**
 * No reply shows whether a message came: one that the deployment accepts speaks for it, and a text that cannot be read
 * against it. A denial leaves it open, until a person has looked at the phone.
 */
export function observeMessageReply(
  { operation, status = 0, shape }: CapturedReply,
  { readMessageReply }: Pick<Deployment<unknown>, 'readMessageReply'>,
): RowObservation | undefined {
  if (operation !== 'sendMessage' || !isSuccessStatus(status)) return undefined;
  const reply = { status, headers: new Headers(), body: shape };
  const verdict = readQuietly(() => readMessageReply(reply));
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

export function observeRateLimit({ operation, status }: CapturedReply): RowObservation | undefined {
  return status === 429 ? speaksFor(operation) : undefined;
}
