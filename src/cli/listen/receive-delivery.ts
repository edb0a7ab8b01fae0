import type { VerificationKey } from '../../credentials/verification-keys.ts';
import { fromWireNames, type WireNames } from '../../deployment/wire-names.ts';
import { isSignatureError, type SignatureErrorCode } from '../../errors/errors.ts';
import type { EventReading } from '../../events/event-readings.ts';
import { isJsonObject } from '../../internal/json.ts';
import { printableText } from '../../internal/printable-text.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import { verifyBody } from '../../signature/verify-body.ts';
import { readEvent, readingsOf } from '../../webhooks/handlers.ts';
import type { Delivery } from '../deliveries.ts';
import { type Answer, describeAnswer } from '../post-delivery.ts';
import type { Paint } from '../terminal-text.ts';
import type { DeliveryFolder } from './delivery-folder.ts';
import type { Forwarded, Forwarder } from './forwarder.ts';

export interface SenderAnswer {
  readonly status: number;
  readonly headers: Delivery['headers'];
  readonly body: Uint8Array;
}

export interface Received {
  readonly verdict: Verdict;
  readonly delivery: Delivery;
  /** Whether it passed the filters. */
  readonly wanted: boolean;
  readonly file: string | undefined;
  readonly forwarded: Forwarded | undefined;
  readonly answer: SenderAnswer;
}

interface ReceivingOptions {
  readonly verify: (body: Uint8Array) => Verdict;
  /** `undefined` if deliveries are not kept. */
  readonly folder: DeliveryFolder | undefined;
  /** `undefined` if deliveries are not forwarded. It needs the folder. */
  readonly forwarder: Forwarder | undefined;
  /** Whether to forward a delivery. The others are answered and kept. */
  readonly isWanted: (verdict: Verdict) => boolean;
}

/**
 * Saves and forwards a delivery, then answers its sender. If the target is down, an authentic delivery is acknowledged
 * and waits; any other is refused.
 */
export async function receiveDelivery(
  delivery: Delivery,
  { verify, folder, isWanted, ...options }: ReceivingOptions,
): Promise<Received> {
  const verdict = verify(delivery.body);
  const wanted = isWanted(verdict);
  const forwarder = wanted ? options.forwarder : undefined;
  const mayWait = verdict.signature !== 'refused';
  const file = await save();
  const own = mayWait ? jsonAnswer(200, { received: true }) : refusal(401, verdict.code ?? 'refused');
  if (forwarder === undefined) return { verdict, delivery, wanted, file, forwarded: undefined, answer: own };
  const forwarded = await forwarder.forward(delivery, mayWait ? file : undefined);
  if (forwarded.kind !== 'answered') return { verdict, delivery, wanted, file, forwarded, answer: own };
  const settled = mayWait ? forwarded.file : file;
  return { verdict, delivery, wanted, file: settled, forwarded, answer: forwarded.answer };

  async function save(): Promise<string | undefined> {
    if (forwarder !== undefined && mayWait) return folder?.save(delivery, 'pending');
    return folder?.keepsDone ? folder.save(delivery, mayWait ? 'done' : 'unsigned') : undefined;
  }
}

export function refusal(status: number, error: string, headers: Delivery['headers'] = []): SenderAnswer {
  return jsonAnswer(status, { error }, headers);
}

function jsonAnswer(status: number, body: object, headers: Delivery['headers'] = []): SenderAnswer {
  return {
    status,
    headers: [['content-type', 'application/json'], ...headers],
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** The facts of a body without personal data. */
export interface Verdict {
  readonly signature: 'verified' | 'refused' | 'unchecked';
  readonly code?: SignatureErrorCode;
  /** The merchant whose key matched, if there are several. */
  readonly merchant?: string;
  /** `unknown`: an unfamiliar name. `nonconforming`: not in the published shape. */
  readonly kind?: 'known' | 'unknown' | 'nonconforming';
  /** The members of a known event that were sent in another form than the documented one; absent if there are none. */
  readonly readings?: readonly EventReading[];
  /** Without verification, these members are claims. */
  readonly event_name?: string;
  readonly partner_order_id?: string;
  readonly platform_order_ref?: string;
  readonly fiat_payment_status?: string;
  readonly crypto_payment_status?: string;
}

/** Verifies a body and reads the members that identify the event. Never throws. */
export function verifyDelivery(
  body: Uint8Array,
  {
    ring,
    scheme,
    wireNames,
  }: { ring: readonly VerificationKey[] | undefined; scheme: SignatureScheme; wireNames: WireNames },
): Verdict {
  if (ring === undefined) return { signature: 'unchecked', ...claims(body, wireNames) };
  try {
    const verified = verifyBody(body, { key: ring.map(({ text }) => text), scheme });
    const { parsed } = readEvent(verified, { wireNames, strict: false });
    const readings = readingsOf(parsed);
    const { merchant } = ring[verified.keyIndex]?.shown ?? {};
    return {
      signature: 'verified',
      ...(merchant !== undefined && { merchant }),
      kind: parsed.kind,
      ...(readings.length > 0 && { readings }),
      ...identity(parsed.kind === 'known' ? parsed.event : parsed.body),
    };
  } catch (error) {
    if (!isSignatureError(error)) throw error;
    return { signature: 'refused', code: error.code, ...claims(body, wireNames) };
  }
}

function claims(body: Uint8Array, wireNames: WireNames): Partial<Verdict> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    if (!isJsonObject(value)) return {};
    return identity(fromWireNames(value, wireNames));
  } catch {
    return {};
  }
}

const members = [
  'event_name',
  'partner_order_id',
  'platform_order_ref',
  'fiat_payment_status',
  'crypto_payment_status',
] as const;

function identity(body: { readonly [Name in (typeof members)[number]]?: unknown }): Partial<Verdict> {
  const found = members.flatMap((name) => {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    return typeof value === 'string' ? [[name, value.slice(0, 200)]] : [];
  });
  return Object.fromEntries(found);
}

/** A received delivery, as `listen --format json` prints it. */
export function receivedItem({ verdict, delivery, file, forwarded, answer }: Received): object {
  return {
    at: delivery.receivedAt,
    target: delivery.target,
    bytes: delivery.body.byteLength,
    ...verdict,
    file,
    ...(forwarded !== undefined && { forwarded: forwardedItem(forwarded) }),
    answered: answer.status,
  };
}

function forwardedItem(forwarded: NonNullable<Received['forwarded']>): object {
  if (forwarded.kind !== 'answered') return forwarded;
  const { status, durationMs } = forwarded.answer;
  return { kind: 'answered', status, durationMs };
}

/** The line that `listen` prints for a delivery. */
export function describeReceived(received: Received, paint: Paint): string {
  const { verdict, delivery, forwarded, answer } = received;
  const time = delivery.receivedAt?.slice(11, 19) ?? '';
  const outcome =
    forwarded?.kind === 'answered'
      ? describeAnswer(forwarded.answer, paint)
      : `${paint(answer.status < 300 ? 'green' : 'red', String(answer.status))}${forwarded === undefined ? '' : ` ${paint('yellow', `${forwarded.kind}: ${printableText(forwarded.reason)}`)}`}`;
  return `${paint('dim', time)} ${describeVerdict(verdict, paint)} -> ${outcome}`;
}

export function describeLate(file: string | undefined, answer: Answer, paint: Paint): string {
  return `${paint('dim', 'late')} ${printableText(file ?? 'forwarded')} -> ${describeAnswer(answer, paint)}`;
}

function describeReading({ path, found, readAs }: EventReading): string {
  return `${path.join('.')} ${found} as ${readAs}`;
}

function describeVerdict(verdict: Verdict, paint: Paint): string {
  const {
    signature,
    code,
    kind,
    readings = [],
    event_name,
    partner_order_id,
    platform_order_ref,
    merchant,
  } = verdict;
  const { fiat_payment_status: fiat, crypto_payment_status: crypto } = verdict;
  const style = ({ verified: 'green', refused: 'red', unchecked: 'yellow' } as const)[signature];
  const facts = [
    event_name,
    partner_order_id,
    platform_order_ref,
    fiat === undefined && crypto === undefined ? undefined : `${fiat ?? '?'}/${crypto ?? '?'}`,
    kind === undefined || kind === 'known' ? undefined : kind,
    merchant === undefined ? undefined : `merchant ${merchant}`,
    readings.length === 0 ? undefined : `(read: ${readings.map(describeReading).join(', ')})`,
  ].filter((fact) => fact !== undefined);
  return [
    paint(style, signature),
    ...(code === undefined ? [] : [paint('red', code)]),
    // Texts of the sender must not control the terminal.
    ...facts.map(printableText),
  ].join(' ');
}
