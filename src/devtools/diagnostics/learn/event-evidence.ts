import { checkAddress } from '../../../deployment/addresses/check-address.ts';
import type { Deployment } from '../../../deployment/define-deployment.ts';
import { closedStatuses, contraryStatuses } from '../../../deployment/event-statuses.ts';
import type { LearntDeployment } from '../../../deployment/learnt-deployment.ts';
import { checkWireNames, fromWireNames } from '../../../deployment/wire-names.ts';
import type { ValidationIssue } from '../../../errors/errors.ts';
import { orderEventNames } from '../../../events/event-names.ts';
import type { OrderEventName } from '../../../events/order-event.ts';
import { type ParsedOrderEvent, parseOrderEvent } from '../../../events/parse-order-event.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../internal/json.ts';
import { type RowObservation, type RowRule, speaksAgainst, speaksFor } from './evidence.ts';
import type { GenuineBody } from './scheme-finder.ts';

/** An authentic delivery, as the judges see it. */
export interface GenuineEvent {
  /** The body, with the published names of members. */
  readonly body: JsonObject;
  readonly parsed: ParsedOrderEvent;
  /** `undefined` for a body that was kept without its request. */
  readonly headers: ReadonlyMap<string, string> | undefined;
  /** The name on the wire of `platform_order_ref`: the configured one, or the one member that can only be it. */
  readonly referenceName: string | undefined;
  /** Whether that is the configured name. */
  readonly isNamedAsConfigured: boolean;
  /** The merchant whose key verified it, if the credentials name one. */
  readonly merchant: string | undefined;
  /** How it came out of turn. */
  readonly disorder: Disorder | undefined;
}

/** `again`: an event of the same order and name came before, in another text. */
export type Disorder = 'twice' | 'again' | 'out of order';

export function readGenuineEvent(
  { value, json, merchant }: GenuineBody,
  {
    headers,
    wireNames,
    eventStatuses,
    disorderOf,
  }: {
    readonly headers: Iterable<readonly [string, string]> | undefined;
    readonly disorderOf: (parsed: ParsedOrderEvent) => Disorder | undefined;
    readonly wireNames: Deployment['wireNames'];
    readonly eventStatuses: Deployment['eventStatuses'];
  },
): GenuineEvent {
  const configured = wireNames.platform_order_ref ?? 'platform_order_ref';
  const isNamedAsConfigured = Object.hasOwn(value, configured);
  const other = isNamedAsConfigured ? undefined : otherReferenceName(value);
  const names = other === undefined ? wireNames : { ...wireNames, platform_order_ref: other };
  const body = fromWireNames(value, names);
  const parsed = parseOrderEvent(body, { text: json, eventStatuses });
  return {
    body,
    parsed,
    headers: headers && new Map(Array.from(headers, ([name, text]) => [name.toLowerCase(), text])),
    referenceName: isNamedAsConfigured ? configured : other,
    isNamedAsConfigured,
    merchant,
    disorder: disorderOf(parsed),
  };
}

function otherReferenceName(body: JsonObject): string | undefined {
  if (Object.hasOwn(body, 'platform_order_ref')) return 'platform_order_ref';
  const possible = Object.keys(body).filter((name) => isReference(body[name]) && canNameReference(name));
  // Each published event has a reference; other events may lack one.
  const isPublished = orderEventNames.some((name) => name === body.event_name);
  if (isPublished && possible.length === 1) return possible[0];
  const [name, ...others] = possible.filter((each) => /ref(?:erence)?$/i.test(each));
  return others.length === 0 ? name : undefined;
}

function isReference(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && /^[!-~]{1,128}$/.test(value);
}

/** Whether it is a name that no other member has in a body of the contract, and none of a time. */
function canNameReference(name: string): boolean {
  try {
    return !timeLike.test(name) && checkWireNames({ platform_order_ref: name }) !== undefined;
  } catch {
    return false;
  }
}

/** The names of the members that have a row of their own, by event. */
const ownRows: Readonly<Record<string, string>> = {
  'event.buy.credited.crypto crypto_payment_status': 'text',
  'event.buy.received.fiat_kyc_error kyc_error_type': 'text',
  'event.buy.received.fiat_kyc_error created_at': 'any',
  'event.buy.init fiat_payment_status': 'text',
  'event.buy.init crypto_payment_status': 'text',
  'event.buy.received.fiat fiat_payment_status': 'text',
  'event.buy.received.fiat crypto_payment_status': 'text',
  'event.buy.credited.crypto fiat_payment_status': 'text',
  'buy.event.close meta_data.status': 'text',
};

interface MemberRule {
  readonly event: OrderEventName;
  readonly isDocumented: (text: string) => boolean;
  /** Whether it says nothing of the row. */
  readonly isNeutral?: (text: string) => boolean;
  readonly howToSee: string;
}

/** A row about the text of one member. Another case alone is read (`event-readings`), and says nothing of the row. */
export function memberJudge(
  path: readonly string[],
  { event, isDocumented, isNeutral, howToSee }: MemberRule,
): RowRule & { event: (event: GenuineEvent) => RowObservation | undefined } {
  return {
    least: 3,
    leastAgainst: 1,
    howToSee,
    event: ({ body, parsed }) => {
      const value = memberAt(body, path);
      if (nameOf(parsed) !== event || typeof value !== 'string' || isNeutral?.(value)) return undefined;
      if (isDocumented(value)) return speaksFor(value);
      const isHere = (each: { readonly path: readonly PropertyKey[] }) => each.path.join() === path.join();
      const isOther =
        parsed.kind === 'nonconforming'
          ? parsed.issues.some(isHere)
          : parsed.kind === 'known' && !parsed.readings.some(isHere);
      return isOther ? speaksAgainst(value, furtherStatus(event, path.join('.'), value)) : undefined;
    },
  };
}

/** What to set for another status. A person decides where it may say that something is not paid, or not yet. */
function furtherStatus(event: string, member: string, status: string): LearntDeployment | undefined {
  const contrary = contraryStatuses(event, member);
  if (contrary === undefined || (contrary.length > 0 && unpaidStatus.test(status))) return undefined;
  return { eventStatuses: { [event]: { [member]: [status] } } };
}

const unpaidStatus =
  /^un|^not|^part|pend|start|progress|process|wait|init|creat|hold|held|review|fail|err|cancel|reject|declin|revers|refund|expir/i;

/** The statuses of events with closed ones, without the one that has a row of its own. */
export function observeStatuses({ body, parsed }: GenuineEvent): RowObservation | undefined {
  const name = nameOf(parsed);
  if (!Object.hasOwn(closedStatuses, name) || parsed.kind === 'unknown') return undefined;
  if (parsed.kind === 'known') return speaksFor(name);
  for (const { path } of parsed.issues) {
    const member = path.join('.');
    const status = memberAt(body, path.map(String));
    if (
      typeof status !== 'string' ||
      `${name} ${member}` === 'event.buy.credited.crypto crypto_payment_status'
    )
      continue;
    if (contraryStatuses(name, member) !== undefined)
      return speaksAgainst(`${name} ${member} ${status}`, furtherStatus(name, member, status));
  }
  return undefined;
}

export function observeShape({ body, parsed }: GenuineEvent): RowObservation | undefined {
  const name = nameOf(parsed);
  if (parsed.kind === 'unknown' || name === 'event.buy.third_party_error') return undefined;
  if (parsed.kind === 'known') return speaksFor(name);
  const issues = parsed.issues.filter(({ path }) => {
    const own = ownRows[`${name} ${path.join('.')}`];
    return own === undefined || (own === 'text' && typeof memberAt(body, path.map(String)) !== 'string');
  });
  return issues.length === 0 ? undefined : speaksAgainst(`${name} ${differences(issues)}`.trim());
}

export function observeAddress({ body, parsed }: GenuineEvent): RowObservation | undefined {
  const { buyer_crypto_address: address, chain } = body;
  // A close event has any chain (ledger: event-matches-order).
  if (nameOf(parsed) === 'buy.event.close') return undefined;
  if (typeof address !== 'string' || typeof chain !== 'string') return undefined;
  const { verdict, reason } = checkAddress(address, { chain });
  if (verdict === 'valid') return speaksFor(chain);
  return reason === 'form' || reason === 'checksum' || reason === 'other_chain'
    ? speaksAgainst(`${chain}: ${reason}`)
    : undefined;
}

export function observeReferenceName(event: GenuineEvent): RowObservation | undefined {
  const { parsed, referenceName, isNamedAsConfigured } = event;
  if (referenceName === undefined) return undefined;
  if (isNamedAsConfigured) return parsed.kind === 'known' ? speaksFor(referenceName) : undefined;
  return speaksAgainst(referenceName, { wireNames: { platform_order_ref: referenceName } });
}

export function observeThirdPartyError({ parsed }: GenuineEvent): RowObservation | undefined {
  if (nameOf(parsed) !== 'event.buy.third_party_error') return undefined;
  return parsed.kind === 'nonconforming' ? speaksAgainst(differences(parsed.issues)) : speaksFor('readable');
}

export function observeTimestamp({ body, parsed }: GenuineEvent): RowObservation | undefined {
  if (nameOf(parsed) !== 'event.buy.received.fiat_kyc_error') return undefined;
  const { created_at } = body;
  if (typeof created_at === 'number') return speaksAgainst('a number');
  if (typeof created_at !== 'string') return undefined;
  return isTimestamp(created_at) ? speaksFor('RFC 3339') : speaksAgainst('a text in another form');
}

export function observeReadings({ parsed }: GenuineEvent): RowObservation | undefined {
  if (parsed.kind !== 'known' || parsed.readings.length === 0) return undefined;
  return speaksFor(parsed.readings.map(({ path, readAs }) => `${path.join('.')} as ${readAs}`).join(', '));
}

export function observeContentType({ headers }: GenuineEvent): RowObservation | undefined {
  if (headers === undefined) return undefined;
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') return speaksAgainst('a Content-Encoding');
  return speaksFor(headers.has('content-type') ? 'with a Content-Type' : 'without a Content-Type');
}

export function observeTimeLikeMember({ body }: GenuineEvent): RowObservation {
  const name = Object.keys(body).find(
    (each) => each !== 'created_at' && timeLike.test(each) && /number|string/.test(typeof body[each]),
  );
  return name === undefined ? speaksFor('no member like a time or a nonce') : speaksAgainst(name);
}

const timeLike = /(?:^|_)(?:time|timestamp|nonce|date|ts|at)$|(?:Time|Timestamp|Nonce|Date|At)$/;
const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

function isTimestamp(text: string): boolean {
  return rfc3339.test(text) && !Number.isNaN(Date.parse(text));
}

function nameOf(parsed: ParsedOrderEvent): string {
  return parsed.kind === 'known' ? parsed.event.event_name : parsed.name;
}

function memberAt(body: JsonObject, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    body,
  );
}

function differences(issues: readonly ValidationIssue[]): string {
  return issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`)
    .join('; ');
}
