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

type Case = readonly [
  title: string,
  sent: JsonObject,
  path: string,
  found: string,
  readAs: string,
  value: JsonValue,
];

const cases: readonly Case[] = [
  ...shown.flatMap((makeBody): Case[] => {
    const title = `${makeBody().event_name}`;
    return [
      [
        title,
        changed(makeBody(), 'transactional_kyc'),
        'transactional_kyc',
        'nothing',
        'empty texts',
        emptyKyc,
      ],
      [
        title,
        changed(makeBody(), 'transactional_kyc', null),
        'transactional_kyc',
        'null',
        'empty texts',
        emptyKyc,
      ],
      ...kycTexts.flatMap((path): Case[] => [
        [title, changed(makeBody(), path), path, 'nothing', 'empty text', ''],
        [title, changed(makeBody(), path, null), path, 'null', 'empty text', ''],
      ]),
      [title, changed(makeBody(), 'payment_link'), 'payment_link', 'nothing', 'null', null],
      [
        title,
        changed(makeBody(), 'fiat_amount_to_pay', '15000.50'),
        'fiat_amount_to_pay',
        'text',
        'number',
        15000.5,
      ],
      [
        title,
        changed(makeBody(), 'crypto_amount_to_receive', '1e1'),
        'crypto_amount_to_receive',
        'text',
        'number',
        10,
      ],
    ];
  }),
  ...[buyInitBody, buyFiatReceivedBody, buyNoKycBody, buyThirdPartyPaymentBody, buyCreditedBody].map(
    (makeBody): Case => [
      `${makeBody().event_name}`,
      makeBody({ exchange_rate: '1538.51' }),
      'exchange_rate',
      'text',
      'number',
      1538.51,
    ],
  ),
  ...[buyInitBody, buyFiatReceivedBody, buyNoKycBody, buyThirdPartyPaymentBody, buyCloseBody].map(
    (makeBody): Case => [
      `${makeBody().event_name}`,
      changed(makeBody(), 'crypto_txn_hash'),
      'crypto_txn_hash',
      'nothing',
      'null',
      null,
    ],
  ),
  [
    'third party',
    changed(buyThirdPartyPaymentBody(), 'default_kyc_url'),
    'default_kyc_url',
    'nothing',
    'null',
    null,
  ],
  ['close', changed(buyCloseBody(), 'meta_data.fee', '100.0'), 'meta_data.fee', 'text', 'number', 100],
  [
    'init',
    buyInitBody({ fiat_payment_status: 'pending' }),
    'fiat_payment_status',
    'pending',
    'PENDING',
    'PENDING',
  ],
  [
    'init',
    buyInitBody({ crypto_payment_status: 'Pending' }),
    'crypto_payment_status',
    'Pending',
    'PENDING',
    'PENDING',
  ],
  [
    'fiat',
    buyFiatReceivedBody({ fiat_payment_status: 'paid' }),
    'fiat_payment_status',
    'paid',
    'PAID',
    'PAID',
  ],
  [
    'fiat',
    buyFiatReceivedBody({ crypto_payment_status: 'Started' }),
    'crypto_payment_status',
    'Started',
    'STARTED',
    'STARTED',
  ],
  [
    'credited',
    buyCreditedBody({ fiat_payment_status: 'Paid' }),
    'fiat_payment_status',
    'Paid',
    'PAID',
    'PAID',
  ],
  [
    'credited',
    buyCreditedBody({ crypto_payment_status: 'paid' }),
    'crypto_payment_status',
    'paid',
    'PAID',
    'PAID',
  ],
  [
    'credited',
    buyCreditedBody({ crypto_payment_status: 'completed' }),
    'crypto_payment_status',
    'completed',
    'Completed',
    'Completed',
  ],
  [
    'close',
    changed(buyCloseBody(), 'meta_data.status', 'REFUNDED'),
    'meta_data.status',
    'REFUNDED',
    'refunded',
    'refunded',
  ],
  ['no KYC', buyNoKycBody({ kyc_error_type: 'no_kyc' }), 'kyc_error_type', 'no_kyc', 'NO_KYC', 'NO_KYC'],
  [
    'third party',
    buyThirdPartyPaymentBody({ kyc_error_type: 'third_party_payment' }),
    'kyc_error_type',
    'third_party_payment',
    'THIRD_PARTY_PAYMENT',
    'THIRD_PARTY_PAYMENT',
  ],
  [
    'third-party error',
    buyThirdPartyErrorBody({ fiat_amount_to_pay: '1.50' }),
    'fiat_amount_to_pay',
    'text',
    'number',
    1.5,
  ],
  [
    'third-party error',
    buyThirdPartyErrorBody({ transactional_kyc: { email: null } }),
    'transactional_kyc.email',
    'null',
    'empty text',
    '',
  ],
  ...Object.entries(eventBodies).map(([name, makeBody]): Case => {
    const listed = name.replaceAll('.', ' ');
    return ['listing', makeBody({ event_name: listed }), 'event_name', listed, name, name];
  }),
];

/** A member whose type has any text. */
const isOpen = (path: string) => path === 'kyc_error_type' || path === 'meta_data.status';

describe('a handler gets the documented type of', () => {
  it.each(cases)('%s: %o with another %s, found %s, read as %s', (_, sent, path, found, readAs, value) => {
    const before = structuredClone(sent);
    const { event, readings } = known(sent);
    expect(readings).toEqual([{ path: path.split('.'), found, readAs }]);
    expect(memberAt(event, path)).toEqual(value);
    expect(sent).toEqual(before);
    const strict = parseOrderEvent(sent, { strict: true });
    if (isOpen(path)) expect(strict).toMatchObject({ kind: 'known', readings: [] });
    else expect(strict.kind).not.toBe('known');
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

  it('a KYC error whose type and other members are in other forms', () => {
    const { readings } = known(buyNoKycBody({ kyc_error_type: 'No_Kyc', fiat_amount_to_pay: '1' }));
    expect(readings).toHaveLength(2);
  });
});

const guesses: readonly (readonly [title: string, body: JsonObject, path: string])[] = [
  ...[
    'partner_order_id',
    'platform_order_ref',
    'pair',
    'chain',
    'buyer_crypto_address',
    'partner_callback_url',
  ].flatMap((path) =>
    [undefined, null, 7, ['x'], {}].map(
      (value) => [`${path} ${JSON.stringify(value)}`, changed(buyInitBody(), path, value), path] as const,
    ),
  ),
  ...['account_name', 'account_number', 'bank_name'].flatMap((name) =>
    [undefined, null, 7].map((value) => {
      const path = `payer_into_account.${name}`;
      return [`${path} ${value}`, changed(buyInitBody(), path, value), path] as const;
    }),
  ),
  ['no account', changed(buyInitBody(), 'payer_into_account'), 'payer_into_account'],
  ['a phone as a number', changed(buyInitBody(), 'transactional_kyc.phone', 234), 'transactional_kyc.phone'],
  [
    'a name as a number',
    changed(buyInitBody(), 'transactional_kyc.first_name', 1),
    'transactional_kyc.first_name',
  ],
  ['a list for KYC', buyInitBody({ transactional_kyc: [] }), 'transactional_kyc'],
  ['a text for KYC', buyInitBody({ transactional_kyc: '' }), 'transactional_kyc'],
  ['a link as a number', buyInitBody({ payment_link: 1 }), 'payment_link'],
  ['a hash as a number', buyCreditedBody({ crypto_txn_hash: 9 }), 'crypto_txn_hash'],
  ['no hash of a credit', changed(buyCreditedBody(), 'crypto_txn_hash'), 'crypto_txn_hash'],
  ['null for the hash of a credit', buyCreditedBody({ crypto_txn_hash: null }), 'crypto_txn_hash'],
  ['an empty hash of a credit', buyCreditedBody({ crypto_txn_hash: '' }), 'crypto_txn_hash'],
  ['a hash before the credit', buyInitBody({ crypto_txn_hash: '0x1' }), 'crypto_txn_hash'],
  ...[
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
    '9'.repeat(101),
  ].map(
    (amount) =>
      [`an amount ${amount}`, buyInitBody({ fiat_amount_to_pay: amount }), 'fiat_amount_to_pay'] as const,
  ),
  ...[undefined, null, true, [1], {}].map(
    (amount) =>
      [
        `an amount ${JSON.stringify(amount)}`,
        changed(buyInitBody(), 'fiat_amount_to_pay', amount),
        'fiat_amount_to_pay',
      ] as const,
  ),
  ...['SETTLED', ' PAID', 'PAID ', 'PAI', '', 'PENDING'].map(
    (status) =>
      [
        `a status ${status}`,
        buyCreditedBody({ fiat_payment_status: status }),
        'fiat_payment_status',
      ] as const,
  ),
  ['a refund without its status', changed(buyCloseBody(), 'meta_data.status'), 'meta_data.status'],
  ['a close without its refund', changed(buyCloseBody(), 'meta_data'), 'meta_data'],
  [
    'an account of a refund as a number',
    changed(buyCloseBody(), 'meta_data.refund_account', 7),
    'meta_data.refund_account',
  ],
  ['a signature that is no text', buyInitBody({ signature: 1 }), 'signature'],
  [
    'no bank',
    buyThirdPartyErrorBody({ payer_into_account: { bank_name: null } }),
    'payer_into_account.bank_name',
  ],
];

describe('an event is nonconforming where reading it would need a guess', () => {
  it.each(guesses)('%s', (_, body, path) => {
    const parsed = parseOrderEvent(body, { text: JSON.stringify(body) });
    if (parsed.kind !== 'nonconforming') throw new Error(JSON.stringify(parsed));
    expect(parsed.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
    expect(parsed.body).toBe(body);
  });

  it('and the issues are only about what could not be read', () => {
    const body = changed(buyInitBody({ pair: 5, fiat_amount_to_pay: '1' }), 'transactional_kyc');
    expect(parseOrderEvent(body)).toMatchObject({ kind: 'nonconforming', issues: [{ path: ['pair'] }] });
  });

  it('and an issue tells of the member as it was sent', () => {
    const body = changed(buyInitBody({ fiat_payment_status: 'pending', crypto_txn_hash: '0x1' }), 'pair');
    expect(parseOrderEvent(body)).toMatchObject({
      issues: [{ message: expect.stringContaining('undefined') }, { path: ['crypto_txn_hash'] }],
    });
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

describe('a documented member with two different values is nonconforming', () => {
  const repeated = (name: string, value: string, body = buyInitBody()) => {
    const text = JSON.stringify(body).replace(`"${name}":`, `"${name}":${value},"${name}":`);
    const parsed = parseOrderEvent(JSON.parse(text), { text });
    return parsed.kind === 'nonconforming' ? parsed.issues.map(({ path }) => path.join('.')) : parsed.kind;
  };

  it.each([
    ['partner_order_id', '"A-1000"', 'partner_order_id'],
    ['fiat_amount_to_pay', '15000.51', 'fiat_amount_to_pay'],
    ['fiat_amount_to_pay', '"15000.5"', 'fiat_amount_to_pay'],
    ['payment_link', '""', 'payment_link'],
    ['account_number', '"1"', 'payer_into_account.account_number'],
    ['email', 'null', 'transactional_kyc.email'],
    ['transactional_kyc', '{}', 'transactional_kyc'],
    ['event_name', '"event.buy.close"', 'event_name'],
    ['signature', '"ff"', 'signature'],
  ])('%s, before as %s', (name, value, path) => {
    expect(repeated(name, value)).toEqual([path]);
  });

  it('in the refund of a close event', () => {
    expect(repeated('fee', '7', buyCloseBody())).toEqual(['meta_data.fee']);
  });

  it('when strict too', () => {
    const text = JSON.stringify(buyInitBody()).replace('{', '{"pair":"NGN/EUSD",');
    expect(parseOrderEvent(JSON.parse(text), { text, strict: true }).kind).toBe('nonconforming');
  });

  it('in an event of which other members are read', () => {
    expect(repeated('pair', '"NGN/EUSD"', buyInitBody({ exchange_rate: '1' }))).toEqual(['pair']);
  });

  it('whatever spaces, escapes, lists and empty objects stand in the text', () => {
    const plain = JSON.stringify(buyInitBody({ note: [], more: {}, message: 'a, b: "c"' }), null, 1);
    const text = plain.replace('"pair"', '"p\\u0061ir" : "NGN/EUSD",\n"pair"');
    expect(parseOrderEvent(JSON.parse(text), { text })).toMatchObject({ issues: [{ path: ['pair'] }] });
  });

  it('beside a comma that is an escape', () => {
    const { signature: _, ...body } = buyInitBody({ buyer_crypto_address: 'T-x' });
    const text = JSON.stringify(body).replace('T-x', 'T\\u002cx').replace('"pair"', '"pair":"x","pair"');
    expect(parseOrderEvent(JSON.parse(text), { text })).toMatchObject({ issues: [{ path: ['pair'] }] });
  });

  it('beside an empty object', () => {
    const body = buyThirdPartyErrorBody({ transactional_kyc: {}, payer_into_account: {}, pair: 'NGN/USDT' });
    const text = JSON.stringify(body).replace('"pair"', '"pair":"x","pair"');
    expect(parseOrderEvent(JSON.parse(text), { text }).kind).toBe('nonconforming');
  });

  it('also when the text is without the signature that the value has', () => {
    const { signature: _, ...unsigned } = buyInitBody();
    const text = JSON.stringify(unsigned).replace('{', '{"chain":"usdc-matic",');
    expect(parseOrderEvent(buyInitBody(), { text })).toMatchObject({ issues: [{ path: ['chain'] }] });
  });

  it.each([
    ['the same value twice', 'pair', '"NGN/USDT"'],
    ['the same value in another spelling', 'pair', '"NGN\\/USDT"'],
    ['the same object twice', 'payer_into_account', JSON.stringify(buyInitBody().payer_into_account)],
  ])('but not %s', (_, name, value) => {
    expect(repeated(name, value)).toBe('known');
  });

  it('and not a member that is not documented', () => {
    const text = JSON.stringify(buyInitBody({ note: { pair: 1 } })).replace('"note":', '"note":1,"note":');
    expect(known(JSON.parse(text), { text }).readings).toEqual([]);
  });

  it.each([
    ['with the signature', JSON.stringify(buyInitBody())],
    ['indented', JSON.stringify(buyInitBody(), null, 2)],
    ['with lists and commas', JSON.stringify(buyInitBody({ note: [1, 2], message: 'a, "b", c' }))],
  ])('and not an event whose text is %s', (_, text) => {
    const body = JSON.parse(text);
    expect(known(body, { text })).toMatchObject({ readings: [], event: body });
  });
});

describe('an event in the documented form', () => {
  it('is the value itself, with one shared empty list of readings', () => {
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
    ['a repeated member', around('"pair":"x",')],
    ['a repeated object', around('"payer_into_account":{"bank_name":"x","bank_name":"y"},')],
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
