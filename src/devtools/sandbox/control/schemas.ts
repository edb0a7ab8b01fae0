import * as z from 'zod';
import { longestTimerMs } from '../../../internal/deadline.ts';
import { eventFaultNames } from '../settings/event-faults.ts';
import { faultTargets, requestFaultNames } from '../settings/faults.ts';
import { denialNames, replyFormNames } from '../settings/reply-forms.ts';
import { orderSteps } from '../world/order-registry.ts';

/** The JSON answers of the endpoints. Members without a value are absent. */

const time = z.number().describe('milliseconds since the epoch, on the clock of the sandbox');

export const refusalSchema = z
  .object({ error: z.string().describe('a stable code'), message: z.string() })
  .meta({ id: 'Refusal' });

export const doneSchema = z.object({ done: z.literal(true) });

export const stepSchema = z.enum(orderSteps);

export const limitQuery = z.coerce.number().int().min(1).max(1000).default(100).describe('how many at most');

/** The query of a list. */
export const pageQuery = {
  limit: limitQuery,
  offset: z.coerce.number().int().min(0).default(0).describe('how many of the newest to leave out'),
};

export const searchQuery = z.string().max(200).default('').describe('only with all of these words');

export const extentSchema = z.object({
  lastId: z.int(),
  forgotten: z.int().describe('entries up to this id are gone'),
});

export const emailSchema = z
  .object({
    to: z.string(),
    kind: z.enum(['onboarding', 'reset']),
    partner_code: z.string(),
    link: z.string().describe('opens once, with GET, and answers with the keys'),
    linkState: z.enum(['open', 'used', 'replaced']).describe('replaced: a newer mail has the valid link'),
    sentAt: time,
  })
  .meta({ id: 'Email' });

export const messageSchema = z
  .object({
    messenger_device_no: z.string(),
    to_phone: z.string(),
    message: z.string(),
    verify_check: z.boolean().optional(),
    sentAt: time,
  })
  .meta({ id: 'Message' });

export const orderSchema = z
  .object({
    partnerId: z.string(),
    partner_order_id: z.string(),
    platform_order_ref: z.string(),
    state: z.enum(['created', ...stepSchema.options]),
    fiat_amount: z.string(),
    exchange_rate: z.string(),
    crypto_amount_to_receive: z.number(),
    pair: z.string(),
    fiat_currency: z.string(),
    chain: z.string(),
    buyer_crypto_address: z.string(),
    fiat_payment_status: z.string(),
    crypto_payment_status: z.string(),
    payer_into_account: z.object({
      account_name: z.string(),
      account_number: z.string(),
      bank_name: z.string(),
    }),
    payment_link: z.string().nullable(),
    crypto_txn_hash: z.string().nullable(),
    partner_callback_url: z.string(),
    transactional_kyc: z.object({
      email: z.string(),
      phone: z.string(),
      first_name: z.string(),
      last_name: z.string(),
    }),
    refund_account: z.string(),
    createdAt: time,
    payload: z.record(z.string(), z.unknown()).describe('the body of the order as received'),
    next: z.array(stepSchema).describe('the steps that it can take now'),
    lastEvent: z
      .object({ name: z.string(), postedAt: time.optional(), status: z.int().optional() })
      .optional()
      .describe('the last genuine event; in lists alone'),
  })
  .meta({ id: 'Order' });

export const deliverySchema = z
  .object({
    id: z.string(),
    name: z.string().describe('event_name'),
    platform_order_ref: z.string(),
    partner_order_id: z.string(),
    url: z.string(),
    body: z.string().describe('the exact text as posted'),
    attempts: z.int(),
    postedAt: time.optional().describe('when it was last posted'),
    acknowledged: z.boolean(),
    status: z.int().optional(),
    error: z.string().optional().describe('why there was no answer, e.g. ECONNREFUSED'),
    faults: z.array(z.string()),
  })
  .meta({ id: 'Delivery' });

export const traceEntrySchema = z
  .object({
    id: z.int(),
    kind: z.enum(['request', 'reply', 'event', 'event_reply', 'fault']),
    time,
    exchange: z.int().describe('id of the request or event that it belongs to'),
    operation: z.string().optional(),
    event: z.string().optional().describe('event_name'),
    delivery: z.string().optional(),
    order: z.string().optional().describe('partner_order_id'),
    method: z.string().optional(),
    url: z.string().optional(),
    status: z.int().optional(),
    durationMs: z.number().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.string().optional(),
    faults: z.array(z.string()),
    note: z.string().optional(),
    bodyBase64: z
      .string()
      .optional()
      .describe('the bytes of an event that `listen` received, if they are not UTF-8'),
  })
  .meta({ id: 'TraceEntry' });

export const signatureSchema = z
  .object({
    holds: z.boolean(),
    key: z.string().optional().describe('which key it was made with, in words'),
    isExpectedKey: z.boolean().optional().describe('whether this key may sign this'),
    signedText: z.string().optional(),
    reason: z.object({ code: z.string(), message: z.string() }).optional(),
    differences: z
      .array(z.object({ member: z.string(), genuine: z.string().optional(), found: z.string().optional() }))
      .describe('members that differ from those of the genuine event, as JSON'),
  })
  .meta({ id: 'Signature' });

export const exchangeSchema = z
  .object({
    entries: z.array(traceEntrySchema).describe('the request or event first, then its faults and replies'),
    signature: signatureSchema.optional().describe('absent for what is not signed'),
    readings: z
      .array(
        z.object({
          path: z.array(z.string()),
          found: z.string().describe('nothing, null, text or number; of a status and a name its spelling'),
          readAs: z.string(),
        }),
      )
      .optional()
      .describe('the members of a received event that were sent in another form than the documented one'),
    advice: z
      .array(z.string())
      .optional()
      .describe('what to do about a genuine event that the receiver refused'),
  })
  .meta({ id: 'Exchange' });

/** Room for the longest body that a sandbox takes by default, escaped. */
export const maxCopyBytes = 2 * 1024 * 1024;

export const editedCopySchema = z.strictObject({
  body: z.string().optional().describe('the exact text; as it was by default'),
  headers: z
    .record(
      z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, 'must be the name of a header'),
      z.string().regex(/^[\t\x20-\x7e\x80-\xff]{0,8000}$/, 'must be the value of a header'),
    )
    .optional()
    .describe('all of them; as they were by default'),
});

/** A copy of an event goes to its callback, one of a request to the sandbox. */
export const sandboxCopySchema = editedCopySchema
  .extend({
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('another address for an event'),
    signature: z.enum(['keep', 'renew']).default('keep'),
  })
  .meta({ examples: [{ signature: 'renew' }] });

export const sentCopySchema = z.object({
  exchange: z.int().optional().describe('id of the copy in the trace'),
  status: z.int().optional(),
  error: z.string().optional().describe('why there was no answer, e.g. ECONNREFUSED'),
  lacks: z.array(z.string()).optional().describe('parts that were not shown, and so are not in the copy'),
});

export type SentCopy = z.output<typeof sentCopySchema>;

export const explanationSchema = z
  .object({
    findings: z
      .array(
        z.object({ id: z.string(), verdict: z.string(), what: z.string(), advice: z.string().optional() }),
      )
      .describe('what is wrong and what to do, the most telling first'),
  })
  .meta({ id: 'Explanation' });

const faultNameSchema = z.enum([...requestFaultNames, ...eventFaultNames]);

const faultTime = z.enum(['before', 'after']);

/** Each kind of fault takes some of these, partly in narrower bounds. */
const faultDetails = {
  status: z.int().min(200).max(599).optional(),
  retryAfterSeconds: z.int().min(0).optional(),
  location: z
    .string()
    .regex(/^[\t -~\x80-\xff]*$/)
    .optional(),
  bytes: z.int().min(0).optional(),
  delayMs: z.int().min(0).max(longestTimerMs).optional(),
  form: z.enum([...replyFormNames, ...denialNames]).optional(),
  member: z.string().optional(),
};

export const faultSchema = z
  .union([
    faultNameSchema,
    z.strictObject({
      kind: faultNameSchema,
      when: faultTime.optional(),
      ...faultDetails,
    }),
  ])
  .meta({ id: 'Fault' });

const targets = [...faultTargets.request, ...faultTargets.event];

/** How often an unacknowledged event is posted again. */
export const retryPolicySchema = z.union([
  z.literal('none'),
  z.strictObject({
    maxAttempts: z.int().min(1).optional(),
    firstDelayMs: z.int().min(1).max(longestTimerMs).optional(),
    maxDelayMs: z.int().min(1).max(longestTimerMs).optional(),
  }),
]);

export const plannedFaultSchema = z
  .strictObject({
    // The sandbox refuses other names, and proposes the one that was meant.
    target: z.string().meta({ enum: targets }),
    fault: faultSchema,
    rate: z.number().min(0).max(1).optional().describe('how often; without it once'),
  })
  .meta({ id: 'PlannedFault' });

export const clockSchema = z.object({
  now: time,
  nextAt: time.optional().describe('when the next thing is due'),
});

export const stateSchema = z
  .object({
    instance: z.string().describe('another one after each start'),
    seed: z.string(),
    masterKey: z.string().optional().describe('absent if the caller of the sandbox gave it'),
    deployment: z.object({
      onboardingBaseUrl: z.string(),
      stagingUrl: z.string(),
      messengerBaseUrl: z.string(),
      paths: z.record(z.string(), z.string()),
      signature: z.record(z.string(), z.unknown()),
    }),
    clock: clockSchema,
    trace: extentSchema,
    counts: z.object({ orders: z.int(), deliveries: z.int(), emails: z.int(), messages: z.int() }),
    whitelistedIps: z.array(z.string()),
    faults: z.array(plannedFaultSchema),
    known: z
      .object({
        requestTargets: z.array(z.string()),
        eventTargets: z.array(z.string()),
        requestFaults: z.array(z.string()),
        eventFaults: z.array(z.string()),
        faultForms: z.record(z.string(), z.array(z.string())).describe('by fault: its forms'),
        memberFaults: z.array(z.string()).describe('faults that change one member of an event'),
        orderScenarios: z.array(z.string()),
      })
      .describe('the names that requests may use'),
  })
  .meta({ id: 'State' });

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ total: z.int().describe('of all that there are'), items: z.array(item) });
