import { defineCredentials } from '../../credentials/define-credentials.ts';
import { isKeyRing, type KeyRing } from '../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { type AssumptionId, assumptions } from '../../deployment/assumptions.ts';
import type { LearntDeployment } from '../../deployment/learnt-deployment.ts';
import { checkWireNames, fromWireNames, publishedNameOf } from '../../deployment/wire-names.ts';
import { orderEventNames } from '../../events/event-names.ts';
import { parseReceivedEvent } from '../../events/parse-order-event.ts';
import { hash } from '../../internal/hash.ts';
import type { JsonObject } from '../../internal/json.ts';
import { defineOptions, invalidOption, type OptionTable } from '../../internal/options.ts';
import { printableText } from '../../internal/printable-text.ts';
import { defaultScheme, type SignatureScheme } from '../../signature/signature-scheme.ts';
import { type EventJudge, type GenuineEvent, rowJudges } from './row-judges.ts';
import { createSchemeFinder, type GenuineBody } from './scheme-finder.ts';

/** A delivery that was kept, such as a file of `listen --save`. */
export interface CapturedDelivery {
  /** The raw body, as it was posted. */
  readonly body: string | Uint8Array;
  /** The headers: pairs, a `Headers` or a `Map`. */
  readonly headers?: Iterable<readonly [string, string]> | undefined;
  /** When it came, in ISO 8601. */
  readonly receivedAt?: string | undefined;
}

/** Options of {@link learn}. */
export interface LearnOptions {
  /** Read once, one after the other, in the order in which they came. */
  deliveries: Iterable<CapturedDelivery> | AsyncIterable<CapturedDelivery>;
  /** The keys of the partner, of every generation that may have signed; or a key ring. */
  credentials: PartnerCredentials | readonly PartnerCredentials[] | KeyRing;
}

/**
 * - `proven`: enough deliveries say so, and none says otherwise.
 * - `refuted`: deliveries say otherwise.
 * - `not-seen`: too little was seen, or deliveries cannot show it.
 *
 * @inline
 */
export type LearntVerdict = 'proven' | 'refuted' | 'not-seen';

/** A row of the ledger, and what the deliveries say of it. Holds no value of a buyer, and no key. */
export interface LearntRow {
  /** The row: see `assumptions`. */
  readonly id: AssumptionId;
  /** Whether the deployment is as assumed. */
  readonly verdict: LearntVerdict;
  /** How many deliveries the verdict rests on; of repetitions one counts. */
  readonly samples: number;
  /** When the first of them came, in ISO 8601. */
  readonly since?: string;
  /** What was found, at most five: names, types, spellings of event names and statuses. */
  readonly found: readonly string[];
  /** What to give to `defineDeployment`, where it is data. */
  readonly set?: LearntDeployment;
  /** What a person has to decide: the override of a refuted row that is not data. */
  readonly person?: string;
  /** Of a row that was not seen: which call or wait would show it. */
  readonly howToSee?: string;
  /** The SHA-256 of the body of one sample, in hexadecimal digits. */
  readonly digest?: string;
}

/** What deliveries say of the ledger: plain data. */
export interface Learnt {
  /** One for each row, in the order of `assumptions`. */
  readonly rows: readonly LearntRow[];
  /** Exactly what the evidence asks for; empty if the deployment is as assumed. For `defineDeployment`. */
  readonly deployment: LearntDeployment;
  /** How many deliveries one of the keys has signed, and how many others there were, which prove nothing. */
  readonly deliveries: { readonly genuine: number; readonly others: number };
}

const readOptions = defineOptions('learn', {
  deliveries: (given, name) => {
    // Sound: each delivery is checked when it is read.
    if (isIterable(given)) return given as LearnOptions['deliveries'];
    throw invalidOption(`${name} must be a list of deliveries, or another iterable of them.`);
  },
  // Sound: defineCredentials checks each set.
  credentials: (given) => given as LearnOptions['credentials'],
} satisfies OptionTable<LearnOptions>);

/**
 * Says which rows of the ledger deliveries of your deployment prove or refute, and what to set instead. Deliveries that
 * none of the keys has signed prove nothing and are counted apart. Needs the same memory for any number of deliveries.
 *
 * @throws {ConfigurationError} `invalid_option`, `invalid_credentials`
 * @throws {KeyError} `keys_unavailable`
 * @example
 * ```ts
 * const { rows, deployment } = await learn({ deliveries: [{ body: capturedBody }], credentials });
 * for (const { id, verdict, found } of rows) console.log(id, verdict, found);
 * defineDeployment({ ...deployment, onboardingBaseUrl: 'https://api.example' });
 * ```
 */
export async function learn(options: LearnOptions): Promise<Learnt> {
  const { deliveries, credentials } = readOptions(options);
  const sets = isKeyRing(credentials)
    ? (await credentials.current()).verifying
    : [credentials].flat().map(defineCredentials);
  const finder = createSchemeFinder(sets);
  const tallies = new Map(assumptions.map(({ id }) => [id, newTally()]));
  const signed = newTally();
  const memory = createMemory();
  let genuine = 0;
  let others = 0;
  for await (const { body, headers, receivedAt } of deliveries) {
    const read = isBody(body) ? finder.read(body) : undefined;
    if (read === undefined) {
      others++;
      continue;
    }
    genuine++;
    const sample = { digest: hash('sha256', body, 'hex'), since: receivedAt };
    const event = eventOf(read, headers, memory.disorderOf(sample.digest, read.value));
    if (event.disorder !== 'twice') note(signed.for, { ...sample, found: '' });
    for (const [id, tally] of tallies) {
      const judge = rowJudges[id];
      if (!('observe' in judge) || (event.disorder === 'twice' && judge.takesRepeated !== true)) continue;
      const observed = judge.observe(event);
      if (observed !== undefined) note(tally[observed.speaks], { ...sample, found: observed.found });
    }
  }
  const rows = assumptions.map(({ id, override }): LearntRow => {
    const judge = rowJudges[id];
    if ('cannot' in judge) return { id, verdict: 'not-seen', samples: 0, found: [], howToSee: judge.cannot };
    if ('part' in judge) return { id, ...concludeScheme(judge, finder.schemes, signed) };
    return { id, ...conclude(judge, tallies.get(id) ?? newTally(), override) };
  });
  return {
    rows,
    deployment: Object.assign({}, ...rows.map(({ set }) => set)),
    deliveries: { genuine, others },
  };
}

interface Evidence {
  count: number;
  since: string | undefined;
  digest: string | undefined;
  /** Limited: a service may write something new each time. */
  readonly found: Set<string>;
}

const maxFound = 64;
const maxShown = 5;
const maxRemembered = 10_000;

function newTally(): { readonly for: Evidence; readonly against: Evidence } {
  const none = (): Evidence => ({ count: 0, since: undefined, digest: undefined, found: new Set() });
  return { for: none(), against: none() };
}

function note(
  evidence: Evidence,
  { found, since, digest }: { found: string; since: string | undefined; digest: string },
): void {
  evidence.count++;
  evidence.since ??= since;
  evidence.digest ??= digest;
  if (found !== '' && evidence.found.size < maxFound) evidence.found.add(found);
}

function conclude(
  { least, leastAgainst, each = [], leastFound = 1, howToSee, set }: EventJudge,
  tally: ReturnType<typeof newTally>,
  override: string,
): Omit<LearntRow, 'id'> {
  if (tally.against.count >= leastAgainst) {
    const part = set?.([...tally.against.found]);
    return { verdict: 'refuted', ...shown(tally.against), ...(part ? { set: part } : { person: override }) };
  }
  const { count, found } = tally.for;
  const isEnough = count >= least && found.size >= leastFound && each.every((one) => found.has(one));
  const isProven = isEnough && tally.against.count === 0;
  return { verdict: isProven ? 'proven' : 'not-seen', ...shown(tally.for), ...(!isProven && { howToSee }) };
}

/** One signature proves a scheme, since nobody else has the keys; what the schemes that fit differ in is open. */
function concludeScheme(
  { part, howToSee }: { readonly part: keyof SignatureScheme; readonly howToSee: string },
  schemes: readonly SignatureScheme[],
  { for: signed }: ReturnType<typeof newTally>,
): Omit<LearntRow, 'id'> {
  const [best] = schemes;
  const open = { verdict: 'not-seen', samples: 0, found: [], howToSee } as const;
  if (best === undefined) return open;
  const parts = new Set(schemes.map((scheme) => scheme[part] ?? assumed[part]));
  if (parts.size > 1) return { ...open, found: [...parts].slice(0, maxShown).map((value) => `${value}`) };
  if (part === 'keySeparator' && !(best.orderKey ?? assumed.orderKey).includes('+')) return open;
  const [value = ''] = parts;
  const evidence = { ...shown(signed), found: [JSON.stringify(value)] };
  return value === assumed[part]
    ? { verdict: 'proven', ...evidence }
    : { verdict: 'refuted', ...evidence, set: { signature: best } };
}

/** With the parts that the default scheme leaves out. */
const assumed = {
  ...defaultScheme,
  separator: '',
  joiner: '',
  keySeparator: '',
  orderKey: 'merchant+partner',
} as const;

function shown({ count, since, digest, found }: Evidence) {
  return {
    samples: count,
    found: [...found].slice(0, maxShown).map((text) => printableText(text.slice(0, 200))),
    ...(since !== undefined && { since }),
    ...(digest !== undefined && { digest }),
  };
}

function eventOf(
  { value, json, merchant }: GenuineBody,
  headers: CapturedDelivery['headers'],
  disorder: GenuineEvent['disorder'],
): GenuineEvent {
  const brandedName = brandedNameIn(value);
  const names = brandedName === undefined ? {} : { platform_order_ref: brandedName };
  const body = fromWireNames(value, names);
  return {
    body,
    parsed: parseReceivedEvent(body, { text: json }, (name) => publishedNameOf(name, value, names)),
    headers: headers && new Map(Array.from(headers, ([name, text]) => [name.toLowerCase(), text])),
    brandedName,
    merchant,
    disorder,
  };
}

function brandedNameIn(body: JsonObject): string | undefined {
  if (Object.hasOwn(body, 'platform_order_ref')) return undefined;
  const [name, ...others] = Object.keys(body).filter((each) => each.endsWith('_order_ref'));
  if (name === undefined || others.length > 0) return undefined;
  try {
    return checkWireNames({ platform_order_ref: name }).platform_order_ref;
  } catch {
    // A name that a deployment cannot have.
    return undefined;
  }
}

/** Remembers the last deliveries and orders, a bounded number of each. */
function createMemory() {
  const digests = new Set<string>();
  const begun = new Set<string>();
  return {
    disorderOf(digest: string, { partner_order_id: order, event_name: name }: JsonObject) {
      if (digests.has(digest)) return 'twice';
      remember(digests, digest);
      if (typeof order !== 'string') return undefined;
      if (name === orderEventNames[0])
        return begun.has(hash('sha256', order, 'hex')) ? 'out of order' : undefined;
      remember(begun, hash('sha256', order, 'hex'));
      return undefined;
    },
  };
}

function remember(set: Set<string>, text: string): void {
  set.add(text);
  const [oldest] = set;
  if (set.size > maxRemembered && oldest !== undefined) set.delete(oldest);
}

function isBody(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

function isIterable(given: unknown): boolean {
  return (
    typeof given === 'object' && given !== null && (Symbol.iterator in given || Symbol.asyncIterator in given)
  );
}
