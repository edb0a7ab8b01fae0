import { describe, expect, expectTypeOf, it } from 'vitest';
import type { EventReading } from '../../src/events/event-readings.ts';
import { orderEvent } from '../../src/events/order-event.ts';
import { type ParseOptions, parseOrderEvent } from '../../src/events/parse-order-event.ts';
import type { JsonObject, JsonValue } from '../../src/internal/json.ts';
import {
  buyCloseBody,
  buyCreditedBody,
  buyFiatReceivedBody,
  buyInitBody,
  buyNoKycBody,
  buyThirdPartyErrorBody,
  buyThirdPartyPaymentBody,
  eventBodies,
} from '../support/bodies.ts';
import { growth, wellBelowQuadratic } from '../support/timing.ts';

/** The body with the member at a path replaced, or taken out without a value. */
function changed(body: JsonObject, path: string, value?: JsonValue): JsonObject {
  const [name = '', inner] = path.split('.');
  if (inner !== undefined) return { ...body, [name]: changed(body[name] as JsonObject, inner, value) };
  const { [name]: _, ...rest } = body;
  return value === undefined ? rest : { ...rest, [name]: value };
}

function known(body: JsonObject, options?: ParseOptions) {
  const parsed = parseOrderEvent(body, options);
  if (parsed.kind !== 'known') throw new Error(JSON.stringify(parsed));
  expect(orderEvent.safeParse(parsed.event).error).toBeUndefined();
  expect(parsed.body).toBe(body);
  return parsed;
}

function memberAt(event: unknown, path: string): unknown {
  return path.split('.').reduce((at, name) => (at as JsonObject)[name], event);
}

const emptyKyc = { email: '', phone: '', first_name: '', last_name: '' };
const kycTexts = ['email', 'phone', 'first_name', 'last_name'].map((name) => `transactional_kyc.${name}`);
const shown = [
  buyInitBody,
  buyFiatReceivedBody,
  buyNoKycBody,
  buyThirdPartyPaymentBody,
  buyCreditedBody,
  buyCloseBody,
];

type Row = readonly [
  events: readonly ((members?: JsonObject) => JsonObject)[],
  path: string,
  sent: JsonValue | undefined,
  found: string,
  readAs: string,
  value: JsonValue,
];

const rows: readonly Row[] = [
  [shown, 'transactional_kyc', undefined, 'nothing', 'empty texts', emptyKyc],
  [shown, 'transactional_kyc', null, 'null', 'empty texts', emptyKyc],
  ...kycTexts.flatMap((path): Row[] => [
    [shown, path, undefined, 'nothing', 'empty text', ''],
    [shown, path, null, 'null', 'empty text', ''],
  ]),
  [shown, 'payment_link', undefined, 'nothing', 'null', null],
  [shown, 'fiat_amount_to_pay', '15000.50', 'text', 'number', 15000.5],
  [shown, 'crypto_amount_to_receive', '1e1', 'text', 'number', 10],
  [without(buyCloseBody), 'exchange_rate', '1538.51', 'text', 'number', 1538.51],
  [without(buyCreditedBody), 'crypto_txn_hash', undefined, 'nothing', 'null', null],
  [[buyNoKycBody], 'default_kyc_url', undefined, 'nothing', 'null', null],
  [[buyCloseBody], 'meta_data.fee', '100.0', 'text', 'number', 100],
  [[buyInitBody], 'fiat_payment_status', 'pending', 'pending', 'PENDING', 'PENDING'],
  [[buyInitBody], 'crypto_payment_status', 'Pending', 'Pending', 'PENDING', 'PENDING'],
  [[buyFiatReceivedBody], 'fiat_payment_status', 'paid', 'paid', 'PAID', 'PAID'],
  [[buyFiatReceivedBody], 'crypto_payment_status', 'Started', 'Started', 'STARTED', 'STARTED'],
  [[buyCreditedBody], 'fiat_payment_status', 'Paid', 'Paid', 'PAID', 'PAID'],
  [[buyCreditedBody], 'crypto_payment_status', 'paid', 'paid', 'PAID', 'PAID'],
  [[buyCreditedBody], 'crypto_payment_status', 'completed', 'completed', 'Completed', 'Completed'],
  [[buyCloseBody], 'meta_data.status', 'REFUNDED', 'REFUNDED', 'refunded', 'refunded'],
  [[buyNoKycBody], 'kyc_error_type', 'no_kyc', 'no_kyc', 'NO_KYC', 'NO_KYC'],
  [[buyThirdPartyErrorBody], 'fiat_amount_to_pay', '1.50', 'text', 'number', 1.5],
  ...Object.entries(eventBodies).map(([name, makeBody]): Row => {
    const listed = name.replaceAll('.', ' ');
    return [[makeBody], 'event_name', listed, listed, name, name];
  }),
];

function without(excluded: (members?: JsonObject) => JsonObject) {
  return shown.filter((makeBody) => makeBody !== excluded);
}

const cases = rows.flatMap(([events, ...row]) =>
  events.map((makeBody) => [`${makeBody().event_name}`, makeBody, ...row] as const),
);

describe('a handler gets the documented type of', () => {
  it.each(cases)('%s, of which another form %#', (_, makeBody, path, value, found, readAs, read) => {
    const sent = changed(makeBody(), path, value);
    const before = structuredClone(sent);
    const { event, readings } = known(sent);
    expect(readings).toEqual([{ path: path.split('.'), found, readAs }]);
    expect(memberAt(event, path)).toEqual(read);
    expect(sent).toEqual(before);
  });

  it('a third-party error whose KYC texts are null, and those that are absent stay absent', () => {
    const { event } = known(buyThirdPartyErrorBody({ transactional_kyc: { email: null } }));
    expect(memberAt(event, 'transactional_kyc')).toEqual({ email: '' });
  });

  it.each([
    ['exchange_rate', 1538.5, '1538.50'],
    ['meta_data.amount_refunded', 9007199254740992, '9007199254740993'],
    ['meta_data.amount_refunded', 100, '1.00e2'],
  ])('a close event whose %s is a number, with the digits as sent', (path, value, digits) => {
    const body = changed(buyCloseBody(), path, value);
    const text = JSON.stringify(changed(buyCloseBody(), path, 'digits')).replace('"digits"', digits);
    const { event, readings } = known(body, { text });
    expect(memberAt(event, path)).toBe(digits);
    expect(readings).toEqual([{ path: path.split('.'), found: 'number', readAs: 'text' }]);
  });

  it('an event with several other forms at once', () => {
    const {
      transactional_kyc: _,
      payment_link: __,
      ...rest
    } = buyCreditedBody({
      event_name: 'event buy credited crypto',
      exchange_rate: '1538.51',
      crypto_payment_status: 'paid',
    });
    const { event, readings } = known({ ...rest, note: ['kept'] });
    expect(readings.map(({ path }) => path.join('.')).toSorted()).toEqual([
      'crypto_payment_status',
      'event_name',
      'exchange_rate',
      'payment_link',
      'transactional_kyc',
    ]);
    expect(event).toEqual({
      ...buyCreditedBody({ exchange_rate: 1538.51 }),
      transactional_kyc: emptyKyc,
      note: ['kept'],
    });
  });
});

const ids = ['partner_order_id', 'platform_order_ref', 'pair', 'chain', 'buyer_crypto_address'];
const accounts = ['account_name', 'account_number', 'bank_name'].map((name) => `payer_into_account.${name}`);
const noDecimals = [
  '',
  ' 1',
  '1 ',
  '+1',
  '01',
  '1.',
  '.5',
  '1,5',
  '0x1',
  'NaN',
  'Infinity',
  '1e999',
  '1_0',
  '١',
];
const statuses = ['SETTLED', ' PAID', 'PAID ', 'PAI', '', 'PENDING'];

type Guess = [makeBody: () => JsonObject, path: string, ...sent: (JsonValue | undefined)[]];

const guesses: readonly Guess[] = [
  ...[...ids, 'partner_callback_url'].map((id): Guess => [buyInitBody, id, undefined, null, 7, ['x'], {}]),
  ...accounts.map((path): Guess => [buyInitBody, path, undefined, null, 7]),
  [buyInitBody, 'payer_into_account', undefined],
  [buyInitBody, 'transactional_kyc.phone', 234],
  [buyInitBody, 'transactional_kyc.first_name', 1],
  [buyInitBody, 'transactional_kyc', [], ''],
  [buyInitBody, 'payment_link', 1],
  [buyInitBody, 'crypto_txn_hash', '0x1'],
  [buyCreditedBody, 'crypto_txn_hash', 9, undefined, null, ''],
  [buyInitBody, 'fiat_amount_to_pay', ...noDecimals, '9'.repeat(101), undefined, null, true, [1], {}],
  [buyCreditedBody, 'fiat_payment_status', ...statuses],
  [buyFiatReceivedBody, 'crypto_payment_status', 'PAID'],
  [buyNoKycBody, 'kyc_error_type', null],
  [buyCloseBody, 'meta_data.status', undefined, null],
  [buyCloseBody, 'meta_data', undefined],
  [buyCloseBody, 'meta_data.refund_account', 7],
  [buyInitBody, 'signature', 1],
  [() => buyThirdPartyErrorBody({ payer_into_account: {} }), 'payer_into_account.bank_name', null],
];

describe('an event is nonconforming where reading it would need a guess', () => {
  it.each(
    guesses.flatMap(([makeBody, path, ...sent]) => sent.map((value) => [path, value, makeBody] as const)),
  )('as of %s from %j', (path, value, makeBody) => {
    const body = changed(makeBody(), path, value);
    const parsed = parseOrderEvent(body, { text: JSON.stringify(body) });
    if (parsed.kind !== 'nonconforming') throw new Error(JSON.stringify(parsed));
    expect(parsed.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
    expect(parsed.body).toBe(body);
  });

  it('and the issues are only about what could not be read', () => {
    const body = changed(buyInitBody({ pair: 5, fiat_amount_to_pay: '1' }), 'transactional_kyc');
    expect(parseOrderEvent(body)).toMatchObject({ kind: 'nonconforming', issues: [{ path: ['pair'] }] });
  });

  it('and an issue has the contract name of a member that was sent under the listed one', () => {
    const body = buyInitBody({ event_name: 'event buy init', pair: 5 });
    expect(parseOrderEvent(body)).toMatchObject({ kind: 'nonconforming', name: 'event.buy.init' });
  });

  it('as with a number for an amount without the text that has its digits', () => {
    expect(parseOrderEvent(buyCloseBody({ exchange_rate: 1538.5 })).kind).toBe('nonconforming');
  });

  it.each(['{"exchange_rate":1538.6}', '{"exchange_rate":1e999}', 'no JSON', '', '{"a":', '['.repeat(9)])(
    'as with a number for an amount with another text: %s',
    (text) => {
      const body = buyCloseBody({ exchange_rate: 1538.5 });
      expect(parseOrderEvent(body, { text }).kind).toBe('nonconforming');
    },
  );
});

describe('an event in the documented form', () => {
  it('is the value itself, with one shared empty list of readings', () => {
    const open = known(buyNoKycBody({ kyc_error_type: 'DOCUMENT_EXPIRED' }));
    expect(open.event).toBe(open.body);
    const [one, other] = [buyInitBody(), buyCloseBody()].map((body) => known(body));
    expect(one?.event).toBe(one?.body);
    expect(one?.readings).toBe(other?.readings);
    expect(Object.isFrozen(one?.readings)).toBe(true);
    if (one !== undefined) expectTypeOf(one.readings).toEqualTypeOf<readonly EventReading[]>();
  });

  it('keeps the members of a third-party error that may be absent', () => {
    const body = buyThirdPartyErrorBody({ fiat_amount_to_pay: '1', transactional_kyc: { phone: '1' } });
    expect(known(body).event).toEqual({ ...body, fiat_amount_to_pay: 1 });
  });
});

it('no reading repeats a value but the spelling of a status or a name', () => {
  const body = buyCloseBody({ fiat_amount_to_pay: '4711.25', exchange_rate: 4712.5 });
  const { readings } = known(body, { text: JSON.stringify(body) });
  expect(JSON.stringify(readings)).not.toContain('471');
});

describe('reading takes linear time over', () => {
  const { signature: _, ...unsigned } = buyCloseBody({ exchange_rate: 1538.5 });
  const around = (piece: string) => (size: number) =>
    JSON.stringify(unsigned).replace('{', () => `{${piece.repeat(size / piece.length)}`);

  it.each([
    ['unknown members', around('"note":[1,2],')],
    ['escaped names', around('"p\\u0061ir":"\\u0061",')],
    [
      'a long amount',
      (size: number) => JSON.stringify({ ...unsigned, fiat_amount_to_pay: '9'.repeat(size) }),
    ],
    [
      'a long status',
      (size: number) => JSON.stringify({ ...unsigned, fiat_payment_status: 'a'.repeat(size) }),
    ],
    ['a long name', (size: number) => JSON.stringify({ ...unsigned, event_name: 'event '.repeat(size / 6) })],
    ['commas in a text', (size: number) => JSON.stringify({ ...unsigned, pair: ','.repeat(size) })],
  ])('%s', (_title, makeText) => {
    const parse = (text: string) => parseOrderEvent(JSON.parse(text), { text });
    expect(growth(makeText, parse)).toBeLessThan(wellBelowQuadratic);
  });
});
