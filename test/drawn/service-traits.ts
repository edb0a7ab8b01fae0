import type { AssumptionId } from '../../src/deployment/assumptions.ts';
import type { SandboxOperation } from '../../src/devtools/sandbox/settings/faults.ts';
import type { ReplyHook } from '../../src/devtools/sandbox/settings/hooks.ts';
import {
  type DenialForm,
  denialInForm,
  denialNames,
  inForm,
  type ReplyForm,
  replyFormNames,
} from '../../src/devtools/sandbox/settings/reply-forms.ts';
import type { SandboxOptions } from '../../src/devtools/sandbox/settings/sandbox-options.ts';
import { setMember } from '../../src/devtools/sandbox/wire/member-changes.ts';
import type { OrderEventName } from '../../src/events/order-event.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/internal/json.ts';
import type { SignatureScheme } from '../../src/signature/signature-scheme.ts';
import { faultsAt } from '../support/fault-rates.ts';

/** The options of a sandbox by which services differ. */
export interface ServiceOptions
  extends Omit<
    SandboxOptions,
    'clock' | 'event' | 'fetch' | 'now' | 'onReset' | 'partners' | 'readOrder' | 'seed'
  > {
  /** Changes the body of each event before it is signed. */
  readonly event?: ((body: JsonObject, name: OrderEventName) => JsonObject) | undefined;
}

/** One way in which a service can be. */
export interface Trait {
  readonly options: ServiceOptions;
  /** Rows of the ledger that do not hold in such a service. */
  readonly broken?: readonly AssumptionId[];
}

/** A service without options. */
const documented: Trait = { options: {} };

/** Bodies that do not say by themselves that the order is there. */
const vague: ReadonlySet<ReplyForm> = new Set([
  ...(['text', 'error_text', 'html', 'empty', 'cut', 'list', 'null', 'true', 'empty_object'] as const),
]);

/**
 * Everything that the ledger leaves open, apart from the form of single members: the ways in which a service can be, the
 * documented or assumed one first.
 */
export const dimensions = {
  construction: signatures('signature-construction', [{ construction: 'hash-suffix' }]),
  // Those of the values alone are left out: without the names two bodies can have one text.
  serialization: signatures(
    'signature-serialization',
    (['compact', 'sorted', 'python', 'python-sorted', 'php', 'base64'] as const).map((serialization) => ({
      serialization,
    })),
  ),
  encoding: signatures('signature-encoding', [
    { encoding: 'hex-upper' },
    { encoding: 'base64' },
    { encoding: 'base64-hex' },
  ]),
  orderKey: signatures('signature-key', [{ orderKey: 'partner+merchant' }, { orderKey: 'public+partner' }]),
  keySeparator: signatures('merchant-concatenation', [{ keySeparator: ':' }]),
  merchants: [documented, { options: { merchants: ['NGN'] } }, { options: { merchants: ['GHS', 'NGN'] } }],
  oldKeys: [
    documented,
    { options: { oldKeysExpire: 'request' } },
    { options: { oldKeysExpire: 'never' }, broken: ['old-keys-die'] },
  ],
  regenerationPath: [
    documented,
    {
      options: { deployment: { paths: { regenerateKeys: '/api/v1/no-auth/PartnerP2P/OnboardPartner/' } } },
      broken: ['regeneration-path'],
    },
  ],
  orderPath: [
    documented,
    { options: { deployment: { paths: { createOrder: '/api/v1/orders' } } }, broken: ['order-path'] },
    {
      options: { deployment: { paths: { createOrder: '/api/v2/no-auth/PartnerP2P/CreateOrder/' } } },
      broken: ['order-path', 'versioning'],
    },
  ],
  duplicateOrders: [
    { options: { duplicateOrders: 'second' } },
    { options: { duplicateOrders: 'refused' }, broken: ['partner-order-id'] },
    { options: { duplicateOrders: 'same' }, broken: ['partner-order-id'] },
    ...[400, 422, 423].map((status) => ({
      options: { duplicateOrders: 'refused' as const, ...refusalStatus('createOrder', 409, status) },
      broken: ['partner-order-id' as const],
    })),
  ],
  wireNames: [
    documented,
    {
      options: {
        deployment: {
          wireNames: { platform_order_ref: 'acme_order_ref', messenger_device_no: 'acme_device_no' },
        },
      },
      broken: ['branded-names'],
    },
  ],
  replies: [documented, ...replyFormNames.map(replyForm)],
  replyStatus: [
    documented,
    { options: successStatus(201) },
    { options: successStatus(202) },
    // A message counts as sent after an empty reply.
    { options: successStatus(204), broken: ['order-reply'] },
  ],
  errorReplies: [documented, ...(['ok', ...denialNames] as const).map(refusalForm)],
  refusedThoughDone: [
    documented,
    ...[400, 409, 423].map((status) => ({
      options: { faults: faultsAt('request', { conflict: { rate: 0.2, status, when: 'after' } }) },
      broken: ['errors' as const],
    })),
  ],
  deniedThoughDone: [
    documented,
    {
      options: {
        faults: faultsAt('request', { ok_with_error: { rate: 0.2, when: 'after', form: 'status_error' } }),
      },
    },
  ],
  rateLimit: [
    documented,
    {
      options: {
        faults: faultsAt('request', {
          too_many_requests: { rate: 0.2, when: 'before', retryAfterSeconds: 0 },
        }),
      },
    },
  ],
  whitelist: [
    documented,
    { options: { whitelist: 'off' } },
    { options: refusalStatus('createOrder', 403, 401) },
    { options: refusalStatus('createOrder', 403, 400), broken: ['ip-whitelist'] },
    { options: refusalStatus('createOrder', 403, 404), broken: ['ip-whitelist'] },
  ],
  numberCheck: [
    documented,
    {
      options: {
        deployment: { paths: { checkNumber: '/numbers/check' } },
      },
      broken: ['number-check'],
    },
  ],
  numberRefusal: [
    documented,
    { options: { numbersNotOnMessenger: ['+2348012345670'] } },
    {
      options: { numbersNotOnMessenger: ['+2348012345670'], ...refusalStatus('sendMessage', 422, 403) },
      broken: ['otp-refusal'],
    },
  ],
  settledStatus: [
    documented,
    ...['Completed', 'COMPLETED'].map((value) => ({ options: settledAs(value) })),
    ...['SETTLED', 'success'].map((value) => ({
      options: settledAs(value),
      broken: ['terminal-crypto-status' as const],
    })),
    { options: settledAs('paid') },
  ],
  initialStatus: [
    documented,
    ...['CREATED', 'pending'].map((value) => ({
      options: changed({ event: 'event.buy.init', member: 'fiat_payment_status', value }),
      broken: value === 'CREATED' ? (['event-statuses'] as const) : [],
    })),
  ],
  startedStatus: [
    documented,
    {
      options: changed({
        event: 'event.buy.received.fiat',
        member: 'crypto_payment_status',
        value: 'PENDING',
      }),
      broken: ['event-statuses'],
    },
  ],
  thirdPartyError: [
    documented,
    {
      options: {
        event: (body: JsonObject) =>
          body.kyc_error_type === 'THIRD_PARTY_PAYMENT'
            ? { ...body, kyc_error_type: 'THIRD_PARTY_ERROR' }
            : body,
      },
    },
    {
      options: changed({
        event: 'event.buy.received.fiat_kyc_error',
        member: 'kyc_error_type',
        value: 'PAYER_MISMATCH',
      }),
      broken: ['third-party-spelling'],
    },
  ],
  thirdPartyErrorBody: [documented, { options: { event: bareThirdPartyError } }],
  timestamp: [
    documented,
    ...['23/11/2026 10:00', 1_795_428_000_000].map((value) => ({
      options: changed({ event: 'event.buy.received.fiat_kyc_error', member: 'created_at', value }),
      broken: ['timestamp-form' as const],
    })),
  ],
  closeStatus: [
    documented,
    { options: changed({ event: 'buy.event.close', member: 'meta_data.status', value: 'REFUNDED' }) },
    {
      options: changed({ event: 'buy.event.close', member: 'meta_data.status', value: 'closed' }),
      broken: ['close-status'],
    },
  ],
  extraMembers: [
    documented,
    { options: { faults: faultsAt('event', { extra_members: 1 }) } },
    { options: changed({ member: 'api_version', value: 'v1.3' }) },
  ],
  eventNames: [
    documented,
    { options: changed({ event: 'event.buy.init', member: 'event_name', value: 'event buy init' }) },
    {
      options: changed({
        event: 'event.buy.credited.crypto',
        member: 'event_name',
        value: 'event.buy.completed',
      }),
      broken: ['other-events'],
    },
  ],
  otherEvents: [
    documented,
    { options: { faults: faultsAt('event', { sell_side: 0.3 }) } },
    { options: { faults: faultsAt('event', { unfamiliar_name: 0.3 }) } },
  ],
  callbackRetry: [
    documented,
    { options: { callbackRetry: { maxAttempts: 3, firstDelayMs: 1_000 } } },
    { options: { callbackRetry: { maxAttempts: 20, firstDelayMs: 60_000, maxDelayMs: 3_600_000 } } },
    // Longer than any test waits.
    { options: { callbackRetry: { maxAttempts: 1_000_000_000, maxDelayMs: 86_400_000 } } },
  ],
  repetition: [
    documented,
    { options: { faults: faultsAt('event', { duplicate: 0.5 }) } },
    { options: { faults: faultsAt('event', { concurrent_duplicate: 0.5 }) } },
  ],
  eventOrder: [
    documented,
    { options: { faults: faultsAt('event', { reorder: 0.3, delay: 0.2 }) } },
    { options: { faults: faultsAt('event', { before_reply: 1 }) } },
  ],
  lostEvents: [documented, { options: { faults: faultsAt('event', { drop: 0.1 }) } }],
  orderTransitions: [documented, { options: { orderTransitions: 'any' } }],
  spelling: [documented, { options: { eventSpelling: 'compact' } }],
  amounts: [documented, { options: { event: withRefundFee } }, { options: { event: withOtherRate } }],
  signingEndpoint: [documented, { options: { reply: withoutSigningEndpoint } }],
} as const satisfies Record<string, readonly [Trait, ...Trait[]]>;

function signatures(
  broken: AssumptionId,
  parts: readonly Partial<SignatureScheme>[],
): readonly [Trait, ...Trait[]] {
  return [
    documented,
    // Sound: drawService adds the parts that a scheme needs.
    ...parts.map((part) => ({
      options: { deployment: { signature: part as SignatureScheme } },
      broken: [broken],
    })),
  ];
}

/** Keys and signatures appear in these replies alone: a service that hides them could not be used. */
const revealing: ReadonlySet<SandboxOperation> = new Set(['generateApiKey', 'openLink', 'signRequest']);

function replyForm(form: ReplyForm): Trait {
  const reply: ReplyHook = (own, operation) =>
    operation === undefined || operation === 'openLink' || (revealing.has(operation) && form !== 'wrapped')
      ? own
      : inForm(own, form);
  return { options: { reply }, ...(vague.has(form) && { broken: ['order-reply', 'message-reply'] }) };
}

function successStatus(status: number): ServiceOptions {
  return {
    reply: (own, operation) =>
      own.status > 299 || operation === undefined || revealing.has(operation) ? own : { ...own, status },
  };
}

/** A refusal with another status. The sandbox refuses this operation with `usual` for one reason alone. */
function refusalStatus(refused: SandboxOperation, usual: number, status: number): ServiceOptions {
  return {
    reply: (own, operation) => (operation === refused && own.status === usual ? { ...own, status } : own),
  };
}

/** Every refusal as a 200 whose body denies. */
function refusalForm(form: 'ok' | DenialForm): Trait {
  const reply: ReplyHook = (own) => {
    if (own.status < 300 || !isJsonObject(own.body)) return own;
    const body = form === 'ok' ? { success: false, ...own.body } : denialInForm(form, own.body);
    return { ...own, status: 200, body };
  };
  return { options: { reply }, broken: ['replies', 'order-reply', 'message-reply', 'errors'] };
}

function withoutSigningEndpoint(...[reply, operation]: Parameters<ReplyHook>): ReturnType<ReplyHook> {
  if (operation !== 'signRequest') return reply;
  return { ...reply, status: 404, body: { error: 'not_found', message: 'Nothing is at this path.' } };
}

/** Each event, or each of one name, with another value of a member. */
function changed({
  event,
  member,
  value,
}: {
  event?: OrderEventName;
  member: string;
  value: JsonValue;
}): ServiceOptions {
  return {
    event: (body, name) =>
      event === undefined || event === name ? setMember({ body, repeated: [] }, member, value).body : body,
  };
}

function settledAs(value: string): ServiceOptions {
  return changed({ event: 'event.buy.credited.crypto', member: 'crypto_payment_status', value });
}

function bareThirdPartyError(body: JsonObject, name: OrderEventName): JsonObject {
  if (name !== 'event.buy.third_party_error') return body;
  const bare = new Set(['event_name', 'partner_order_id', 'platform_order_ref']);
  return Object.fromEntries(Object.entries(body).filter(([member]) => bare.has(member)));
}

/** A number, and a text in the close event, as documented. */
function withOtherRate(body: JsonObject): JsonObject {
  return { ...body, exchange_rate: typeof body.exchange_rate === 'string' ? '98765.4321' : 98765.4321 };
}

function withRefundFee(body: JsonObject): JsonObject {
  const { meta_data } = body;
  if (!isJsonObject(meta_data)) return body;
  const amount_refunded = (Number(body.fiat_amount_to_pay) - 0.01).toFixed(2);
  return { ...body, meta_data: { ...meta_data, amount_refunded, fee: 0.01 } };
}
