import { en } from 'zod/locales';
import {
  compile,
  type core,
  literal,
  minLength,
  nullable,
  number,
  object,
  optional,
  safeParse,
  string,
  union,
  validate,
  enum as zodEnum,
  null as zodNull,
} from 'zod/mini';
import type { AssumptionId } from '../deployment/assumptions.ts';
import { contraryStatuses, type EventStatuses } from '../deployment/event-statuses.ts';
import { InboxError, type ValidationIssue } from '../errors/errors.ts';
import { isJsonObject, type JsonObject } from '../internal/json.ts';
import { quotedName } from '../internal/printable-text.ts';
import { eventSchemaNames, orderEventNames } from './event-names.ts';
import { listedName } from './event-readers.ts';
import { type EventReading, noReadings, readEventMembers } from './event-readings.ts';
import { makeEventSchemas, type SchemaFunctions } from './event-schemas.ts';
import type { OrderEvent, OrderEventName } from './order-event.ts';

/** The result of parsing a body. All of its members are kept in every case. */
export type ParsedOrderEvent =
  | {
      readonly kind: 'known';
      /** The value itself, or a copy of it where members were read: see `readings`. Always of the documented type. */
      readonly event: OrderEvent;
      /** The value as it was sent, with members that the event's type does not have. */
      readonly body: JsonObject;
      /** The members that were sent in another form than the documented one; usually none. */
      readonly readings: readonly EventReading[];
    }
  | { readonly kind: 'unknown'; readonly name: string; readonly body: JsonObject }
  | {
      readonly kind: 'nonconforming';
      /** The event name, or an empty string without one. */
      readonly name: string;
      /** The value itself, or an empty object when it is not an object. */
      readonly body: JsonObject;
      /** Differences from the published event of its name. */
      readonly issues: readonly ValidationIssue[];
    };

/** Options of {@link parseOrderEvent}. */
export interface ParseOptions {
  /**
   * The JSON text of the value (`json` of `verifyBody`). With it an amount that was sent as a number is read as text,
   * with its own digits. Of a repeated member the last value counts, as in `JSON.parse`.
   */
  text?: string | undefined;
  /** Further statuses of the deployment, as in `defineDeployment`: each is read as the published one. @default none */
  eventStatuses?: EventStatuses | undefined;
}

/**
 * Narrows a verified body. Never throws: a body with an unfamiliar name is `unknown`; one without a name, or that cannot
 * be read as its event without a guess, is `nonconforming`, with the differences.
 *
 * It reads other forms than the documented one where no guess is needed, and says so in `readings` (ledger:
 * `event-readings`): absent KYC texts are empty, absent nullable members are null, decimals are read as numbers or as
 * text, statuses in any case or as `eventStatuses` names them, and names with blanks for dots. The event is then a copy of the documented type.
 * Otherwise it is the value itself.
 *
 * @example
 * ```ts
 * const { value, json } = verifyBody(body, { key });
 * const parsed = parseOrderEvent(value, { text: json });
 * if (parsed.kind === 'known') console.log(parsed.event.event_name, parsed.readings);
 * ```
 */
export function parseOrderEvent(
  value: unknown,
  { text, eventStatuses = {} }: ParseOptions = {},
): ParsedOrderEvent {
  if (!isJsonObject(value)) {
    const issues = [{ path: [], message: 'must be an object' }];
    return { kind: 'nonconforming', name: '', body: {}, issues };
  }
  const sentName = Object.hasOwn(value, 'event_name') ? value.event_name : undefined;
  if (typeof sentName !== 'string') {
    const issues = [{ path: ['event_name'], message: 'must be a string' }];
    return { kind: 'nonconforming', name: '', body: value, issues };
  }
  const name = publishedNames.get(sentName);
  if (name === undefined) return { kind: 'unknown', name: sentName, body: value };
  const statuses = new Map(Object.entries(eventStatuses)).get(name);
  const { event, issues, readings } = isPublished(name, value)
    ? { event: value, issues: undefined, readings: noReadings }
    : read(name, value, { text, statuses });
  if (issues !== undefined) return { kind: 'nonconforming', name, body: value, issues };
  // Sound: no schema of the union transforms, so the value itself has the type of zod's copy.
  return { kind: 'known', event: event as unknown as OrderEvent, body: value, readings };
}

/** The name of an event by itself, and by the name in the contract's other listing. */
const publishedNames: ReadonlyMap<string, OrderEventName> = new Map(
  orderEventNames.flatMap((name) => [
    [name, name],
    [listedName(name), name],
  ]),
);

/** Whether an event has the documented form, with the words of the contract alone: so nothing of it is to be read. */
function isPublished(name: OrderEventName, value: JsonObject): boolean {
  published ??= new Map(
    // Compiled schemas take a tenth of the time. zod does not compile where code cannot be made at run time.
    [...makeChecks('published')].map(([each, check]) => [each, compile(check)]),
  );
  const check = published.get(name);
  // Without the copy that safeParse makes.
  return check !== undefined && validate(check, value);
}

function findIssues(name: OrderEventName, value: JsonObject): readonly ValidationIssue[] | undefined {
  open ??= makeChecks('open');
  const check = open.get(name);
  if (check === undefined) return undefined;
  const { error } = safeParse(check, value, { error: inEnglish });
  // Sound: the members of the schemas have names.
  return error?.issues.map(({ path, message }) => ({ path: path as (string | number)[], message }));
}

/** The event with whatever can be read, and the issues that are left. */
function read(name: OrderEventName, body: JsonObject, context: Parameters<typeof readEventMembers>[2]) {
  const { value, readings } = readEventMembers(name, body, context);
  // A reader gives a value of the documented type, so each issue is about a member as it was sent.
  return { event: readings.length === 0 ? body : value, issues: findIssues(name, value), readings };
}

type EventChecks = ReadonlyMap<OrderEventName, core.$ZodType>;

// Made for the first event: making them takes longer than loading this file.
let published: EventChecks | undefined;
let open: EventChecks | undefined;

function makeChecks(words: 'open' | 'published'): EventChecks {
  // Sound: zod/mini has these with the same parameters, and only the verdict is used. Schemas that drop unknown
  // members are faster than those that copy them.
  const schemas = makeEventSchemas(
    miniFunctions as unknown as SchemaFunctions,
    words,
  ) as unknown as MiniSchemas;
  return new Map(orderEventNames.map((name) => [name, schemas[eventSchemaNames[name]]]));
}

type MiniSchemas = Record<keyof ReturnType<typeof makeEventSchemas>, core.$ZodType>;

/** A bundler would keep a whole namespace. */
const miniFunctions = {
  string,
  number,
  null: zodNull,
  literal,
  enum: zodEnum,
  union,
  nullable,
  optional,
  minLength,
  object,
} satisfies Record<keyof SchemaFunctions, unknown>;

/** zod's own messages, whatever language a program has set for its schemas. */
const inEnglish = en().localeError;

/** An authentic body that is no published event, or cannot be read as the event of its name. */
export type UnrecognizedEvent = Exclude<ParsedOrderEvent, { kind: 'known' }>;

const mostIssues = 5;

/** The error of an event that cannot be read here: an inbox makes it a dead letter at once. Holds no value. */
export function unrecognizedEvent(event: UnrecognizedEvent): InboxError {
  const issues = event.kind === 'nonconforming' ? event.issues.slice(0, mostIssues) : [];
  const differences = issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
  const what = `The authentic event ${quotedName(event.name)}${orderOf(event)} ${
    event.kind === 'unknown' ? 'is no published event' : `cannot be read: ${differences.join('; ')}`
  }`;
  const assumptions = [
    ...new Set(
      issues.length === 0
        ? ['other-events' as const]
        : issues.map((issue) => assumptionOf(event.name, issue)),
    ),
  ];
  return new InboxError('event_unrecognized', `${what} (${assumptions.join(', ')}).`, { assumptions });
}

function orderOf({ body }: UnrecognizedEvent): string {
  const { partner_order_id: id } = body;
  return typeof id === 'string' || typeof id === 'number' ? ` of order ${quotedName(String(id))}` : '';
}

function assumptionOf(event: string, { path }: ValidationIssue): AssumptionId {
  const member = path.join('.');
  if (contraryStatuses(event, member) === undefined) return 'event-shape';
  return `${event} ${member}` === 'event.buy.credited.crypto crypto_payment_status'
    ? 'terminal-crypto-status'
    : 'event-statuses';
}
