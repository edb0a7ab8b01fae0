import type { JsonValue } from '../internal/json.ts';
import { isDecimal } from '../internal/json-scanner.ts';
import type { BuyFiatReceivedEvent, BuyOrderRecord, TransactionalKyc } from './event-types.ts';
import type { OrderEventName, OrderEventOf } from './order-event.ts';
import { settledCryptoStatuses, thirdPartyKycErrors } from './status.ts';

/** What a reader makes of a member: its value in the event. */
interface ReadMember<Value> {
  readonly value: Value;
  readonly found: string;
  readonly readAs: string;
}

/**
 * Reads a member that need not be in its documented form; `undefined` leaves it as it was sent.
 *
 * @param further words of the deployment that stand for the first documented one
 */
export type Reader<Value> = (
  sent: JsonValue | undefined,
  digits: () => string | undefined,
  further: readonly string[],
) => ReadMember<Value> | undefined;

/** A reader for every member; of an object one for each of its own. One table also for a union of events. */
type Readers<Event> = { readonly [Name in MemberNames<Event>]: ReaderOf<Event[Name]> };
type MemberNames<Event> = Extract<keyof Event, string>;
// Open text (`string & {}`) would count as an object.
type ReaderOf<Value> = [Extract<Exclude<Value, string>, object>] extends [never]
  ? Reader<Exclude<Value, undefined>>
  : Readers<Extract<Exclude<Value, string>, object>>;

/** Readers of any event, as the code that applies them sees them. */
export interface ReaderTree {
  readonly [name: string]: Reader<JsonValue> | ReaderTree;
}

/** Only the documented form is read: any other would need a guess. */
const documented = () => undefined;

const emptyText = (sent: JsonValue | undefined) =>
  sent === undefined || sent === null
    ? { value: '', found: sent === null ? 'null' : 'nothing', readAs: 'empty text' }
    : undefined;

/** Reads a member that may be absent as well. */
const nullAsEmptyText = (sent: JsonValue | undefined) => (sent === null ? emptyText(sent) : undefined);

const absentAsNull = (sent: JsonValue | undefined) =>
  sent === undefined ? { value: null, found: 'nothing', readAs: 'null' } : undefined;

const number = (sent: JsonValue | undefined) =>
  typeof sent === 'string' && isDecimal(sent) && Number.isFinite(Number(sent))
    ? { value: Number(sent), found: 'text', readAs: 'number' }
    : undefined;

/** Reads a number as text, for amounts and rates alone: of an id, a phone or an account, `7` is not "007". */
const digitsOfNumber: Reader<string> = (sent, digits) => {
  const value = typeof sent === 'number' ? digits() : undefined;
  return value === undefined ? undefined : { value, found: 'number', readAs: 'text' };
};

/** Letters of ASCII alone have another case. */
function spelling<Spelling extends string>(
  ...spellings: readonly [Spelling, ...Spelling[]]
): Reader<Spelling> {
  return (sent, _, further) => {
    if (typeof sent !== 'string' || spellings.some((each) => each === sent)) return undefined;
    if (further.includes(sent)) return { value: spellings[0], found: sent, readAs: spellings[0] };
    if (!/^[A-Za-z_]{1,40}$/.test(sent)) return undefined;
    const value = spellings.find((each) => each.toLowerCase() === sent.toLowerCase());
    return value === undefined ? undefined : { value, found: sent, readAs: value };
  };
}

/** The contract lists the names a second time, with blanks for dots. */
export function listedName(name: string): string {
  return name.replaceAll('.', ' ');
}

function listed<Name extends string>(name: Name): Reader<Name> {
  return (sent) =>
    sent === listedName(name) ? { value: name, found: listedName(name), readAs: name } : undefined;
}

const kyc: Readers<TransactionalKyc> = {
  email: emptyText,
  phone: emptyText,
  first_name: emptyText,
  last_name: emptyText,
};

const common: Readers<Omit<BuyOrderRecord, 'crypto_txn_hash'> & { exchange_rate: number }> = {
  partner_order_id: documented,
  platform_order_ref: documented,
  fiat_amount_to_pay: number,
  crypto_amount_to_receive: number,
  exchange_rate: number,
  pair: documented,
  fiat_currency: documented,
  buyer_crypto_address: documented,
  chain: documented,
  payer_into_account: { account_name: documented, account_number: documented, bank_name: documented },
  payment_link: absentAsNull,
  partner_callback_url: documented,
  transactional_kyc: kyc,
  signature: documented,
};

const fiatReceived: Readers<Omit<BuyFiatReceivedEvent, 'event_name'>> = {
  ...common,
  fiat_payment_status: spelling('PAID'),
  crypto_payment_status: spelling('STARTED'),
  crypto_txn_hash: absentAsNull,
};

/** Which member of which event is read how. The compiler compares it with the types of the events. */
export const eventReaders = {
  'event.buy.init': {
    event_name: listed('event.buy.init'),
    ...common,
    fiat_payment_status: spelling('PENDING'),
    crypto_payment_status: spelling('PENDING'),
    crypto_txn_hash: absentAsNull,
  },
  'event.buy.received.fiat': { event_name: listed('event.buy.received.fiat'), ...fiatReceived },
  'event.buy.received.fiat_kyc_error': {
    event_name: listed('event.buy.received.fiat_kyc_error'),
    ...fiatReceived,
    created_at: documented,
    sender_name: documented,
    message: documented,
    kyc_error_type: spelling('NO_KYC', ...thirdPartyKycErrors),
    default_kyc_url: absentAsNull,
  },
  'event.buy.third_party_error': {
    event_name: listed('event.buy.third_party_error'),
    ...common,
    exchange_rate: documented,
    fiat_payment_status: documented,
    crypto_payment_status: documented,
    crypto_txn_hash: documented,
    payment_link: documented,
    transactional_kyc: {
      email: nullAsEmptyText,
      phone: nullAsEmptyText,
      first_name: nullAsEmptyText,
      last_name: nullAsEmptyText,
    },
  },
  'event.buy.credited.crypto': {
    event_name: listed('event.buy.credited.crypto'),
    ...common,
    fiat_payment_status: spelling('PAID'),
    crypto_payment_status: spelling(...settledCryptoStatuses),
    crypto_txn_hash: documented,
  },
  'buy.event.close': {
    event_name: listed('buy.event.close'),
    ...common,
    exchange_rate: digitsOfNumber,
    fiat_payment_status: documented,
    crypto_payment_status: documented,
    crypto_txn_hash: absentAsNull,
    meta_data: {
      status: spelling('refunded'),
      message: documented,
      refund_account: documented,
      amount_refunded: digitsOfNumber,
      fee: number,
    },
  },
} as const satisfies { readonly [Name in OrderEventName]: Readers<OrderEventOf<Name>> };
