import type { VerificationKey } from '../../../../credentials/verification-keys.ts';
import type { EventStatuses } from '../../../../deployment/event-statuses.ts';
import { fromWireNames, type WireNames } from '../../../../deployment/wire-names.ts';
import type { SignatureErrorCode } from '../../../../errors/errors.ts';
import { isJsonObject, tryParse } from '../../../../internal/json.ts';
import { printableText } from '../../../../internal/printable-text.ts';
import type { SignatureScheme } from '../../../../signature/signature-scheme.ts';
import { readEvent } from '../../../../webhooks/received-event.ts';
import { tryVerify } from '../../../diagnostics/try-verify.ts';
import {
  answerItem,
  describeReceiverAnswer,
  type NoAnswer,
  type ReceiverAnswer,
} from '../../deliveries/post-delivery.ts';
import type { SavedRequest } from '../../deliveries/saved-deliveries.ts';
import type { Paint } from '../../terminal/terminal-text.ts';
import type { DeliveryFolder } from './delivery-folder.ts';

export interface SenderAnswer {
  readonly status: number;
  readonly headers: SavedRequest['headers'];
  readonly body: Uint8Array;
}

export interface Received {
  readonly verdict: DeliveryVerdict;
  readonly delivery: SavedRequest;
  readonly file: string | undefined;
  /** What the receiver answered; `undefined` if it was not asked. */
  readonly forwarded: ReceiverAnswer | NoAnswer | undefined;
  readonly answer: SenderAnswer;
}

interface ReceivingOptions {
  readonly verify: (body: Uint8Array) => DeliveryVerdict;
  /** `undefined` if deliveries are not kept. */
  readonly folder: DeliveryFolder | undefined;
  /** `undefined` if deliveries are not forwarded. */
  readonly post: ((delivery: SavedRequest) => Promise<ReceiverAnswer | NoAnswer>) | undefined;
}

/** Keeps a delivery, then forwards it, and answers its sender as the receiver did. */
export async function receiveDelivery(
  delivery: SavedRequest,
  { verify, folder, post }: ReceivingOptions,
): Promise<Received> {
  const verdict = verify(delivery.body);
  const file = await folder?.save(delivery, verdict.signature === 'refused' ? 'unsigned' : 'done');
  const forwarded = await post?.(delivery);
  const answer = forwarded === undefined ? ownAnswer(verdict) : mirrored(forwarded);
  return { verdict, delivery, file, forwarded, answer };
}

function ownAnswer({ signature, code }: DeliveryVerdict): SenderAnswer {
  return signature === 'refused'
    ? jsonAnswer(401, { error: code ?? 'refused' })
    : jsonAnswer(200, { received: true });
}

function mirrored(forwarded: ReceiverAnswer | NoAnswer): SenderAnswer {
  if (forwarded.status !== undefined) return forwarded;
  return unavailable(
    'no_answer',
    `The receiver behind listen did not answer (${forwarded.problem}): send this again later.`,
  );
}

/** The answer to a delivery that is to be sent again. */
export function unavailable(error: string, message: string): SenderAnswer {
  return jsonAnswer(503, { error, message }, [['retry-after', '10']]);
}

export function jsonAnswer(
  status: number,
  body: object,
  headers: SavedRequest['headers'] = [],
): SenderAnswer {
  return {
    status,
    headers: [['content-type', 'application/json'], ...headers],
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** The facts of a body without personal data. */
export interface DeliveryVerdict {
  readonly signature: 'verified' | 'refused' | 'unchecked';
  readonly code?: SignatureErrorCode;
  /** The merchant whose key matched, if there are several. */
  readonly merchant?: string;
  /** `unknown`: an unfamiliar name. `nonconforming`: not in the published shape. */
  readonly kind?: 'known' | 'unknown' | 'nonconforming';
  /** This member and those below are claims unless the signature is verified. */
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
    eventStatuses = {},
  }: {
    ring: readonly VerificationKey[] | undefined;
    scheme: SignatureScheme;
    wireNames: WireNames;
    eventStatuses?: EventStatuses;
  },
): DeliveryVerdict {
  if (ring === undefined) return { signature: 'unchecked', ...claims(body, wireNames) };
  const keys = ring.map(({ text }) => text);
  const verified = tryVerify(body, keys, scheme);
  if (verified.refusal !== undefined) {
    return { signature: 'refused', code: verified.refusal.code, ...claims(body, wireNames) };
  }
  const { parsed } = readEvent(verified, { wireNames, eventStatuses });
  const { merchant } = ring[verified.keyIndex]?.matched ?? {};
  return {
    signature: 'verified',
    ...(merchant !== undefined && { merchant }),
    kind: parsed.kind,
    ...identity(parsed.kind === 'known' ? parsed.event : parsed.body),
  };
}

function claims(body: Uint8Array, wireNames: WireNames): Partial<DeliveryVerdict> {
  const value = tryParse(new TextDecoder().decode(body));
  return isJsonObject(value) ? identity(fromWireNames(value, wireNames)) : {};
}

const members = [
  'event_name',
  'partner_order_id',
  'platform_order_ref',
  'fiat_payment_status',
  'crypto_payment_status',
] as const;

function identity(body: { readonly [Name in (typeof members)[number]]?: unknown }): Partial<DeliveryVerdict> {
  const facts = members.flatMap((name) => {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    return typeof value === 'string' ? [[name, value.slice(0, 200)]] : [];
  });
  return Object.fromEntries(facts);
}

/** A received delivery, as `listen --format json` prints it. */
export function receivedItem({ verdict, delivery, file, forwarded, answer }: Received): object {
  return {
    at: delivery.receivedAt,
    target: delivery.target,
    bytes: delivery.body.byteLength,
    ...verdict,
    file,
    ...(forwarded !== undefined && { forwarded: answerItem(forwarded) }),
    answered: answer.status,
  };
}

/** The line that `listen` prints for a delivery. */
export function describeReceived(received: Received, paint: Paint): string {
  const { verdict, delivery, forwarded, answer } = received;
  const time = delivery.receivedAt?.slice(11, 19) ?? '';
  const outcome =
    forwarded === undefined
      ? paint(answer.status < 300 ? 'green' : 'red', String(answer.status))
      : describeReceiverAnswer(forwarded, paint);
  return `${paint('dim', time)} ${describeVerdict(verdict, paint)} -> ${outcome}`;
}

function describeVerdict(verdict: DeliveryVerdict, paint: Paint): string {
  const { signature, code, kind, event_name, partner_order_id, platform_order_ref, merchant } = verdict;
  const { fiat_payment_status: fiat, crypto_payment_status: crypto } = verdict;
  const style = ({ verified: 'green', refused: 'red', unchecked: 'yellow' } as const)[signature];
  const facts = [
    event_name,
    partner_order_id,
    platform_order_ref,
    fiat === undefined && crypto === undefined ? undefined : `${fiat ?? '?'}/${crypto ?? '?'}`,
    kind === undefined || kind === 'known' ? undefined : kind,
    merchant === undefined ? undefined : `merchant ${merchant}`,
  ].filter((fact) => fact !== undefined);
  return [
    paint(style, signature),
    ...(code === undefined ? [] : [paint('red', code)]),
    // Texts of the sender must not control the terminal.
    ...facts.map(printableText),
  ].join(' ');
}
