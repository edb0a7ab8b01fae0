import { defineCredentials } from '../../../credentials/define-credentials.ts';
import { isKeyRing, type KeyRing } from '../../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import { type AssumptionId, assumptions } from '../../../deployment/assumptions.ts';
import {
  type Deployment,
  defineDeployment,
  requireDeployment,
} from '../../../deployment/define-deployment.ts';
import {
  type DeploymentFile,
  deploymentFileFormat,
  type LearntDeployment,
  mergeLearnt,
} from '../../../deployment/learnt-deployment.ts';
import {
  callback,
  defineOptions,
  invalidOption,
  type OptionTable,
  optional,
  value,
} from '../../../internal/options.ts';
import { serializationRules } from '../../../signature/serializations.ts';
import { type SignatureScheme, schemePartNames } from '../../../signature/signature-scheme.ts';
import type { Finding } from '../finding.ts';
import { askOracle, type SigningOracle } from './ask-oracle.ts';
import type { CapturedReply } from './captured-reply.ts';
import { conclude } from './evidence.ts';
import { createOrderLog } from './order-log.ts';
import { type CapturedDelivery, createEvidence, readEvents, readReplies } from './read-samples.ts';
import { rowJudges } from './rows.ts';
import { concludeScheme } from './scheme-finder.ts';

/** Options of {@link learn}. */
export interface LearnOptions {
  /** Read once, one after the other, in the order in which they came. @default none */
  deliveries?: Iterable<CapturedDelivery> | AsyncIterable<CapturedDelivery> | undefined;
  /** The keys of the partner, of every generation that may have signed; or a key ring. @default none: no delivery counts */
  credentials?: PartnerCredentials | readonly PartnerCredentials[] | KeyRing | undefined;
  /** Read once, before the deliveries, in the order in which they came. @default none */
  replies?: Iterable<CapturedReply> | AsyncIterable<CapturedReply> | undefined;
  /**
   * Lets the deployment sign a small body with a throw-away secret: the one way to its scheme before the first event
   * (reported: such services have an endpoint that signs). It says nothing of the key for orders. Set a time limit in it.
   */
  oracle?: SigningOracle | undefined;
  /** What is configured: rows are compared with it. @default a deployment as assumed */
  deployment?: Deployment<unknown> | undefined;
}

/**
 * - `proven`: enough samples say so, and none says otherwise.
 * - `refuted`: samples say otherwise.
 * - `not-seen`: too little was seen, or samples cannot show it.
 *
 * @inline
 */
export type LearntVerdict = 'proven' | 'refuted' | 'not-seen';

/** A row of the ledger, and what the samples say of it. Holds no value of a buyer, and no key. */
export interface LearntRow {
  /** The row: see `assumptions`. */
  readonly id: AssumptionId;
  /** Whether the deployment is as assumed, or as configured. */
  readonly verdict: LearntVerdict;
  /** How many samples the verdict rests on; of repetitions one counts. */
  readonly samples: number;
  /** When the first of them came, in ISO 8601. */
  readonly since?: string;
  /** What was found, at most five: names, types, spellings of event names and statuses. */
  readonly found: readonly string[];
  /** What to give to `defineDeployment`, where it is data. */
  readonly set?: LearntDeployment;
  /** What a person has to decide: the override of a refuted row that is not data. */
  readonly override?: string;
  /** Which call or wait would show a row that was not seen. */
  readonly howToSee?: string;
  /**
   * The SHA-256 of one sample, in hexadecimal digits: of the body of an event, of the JSON of an order's
   * `partner_order_id`, or of the JSON of a reply.
   */
  readonly digest?: string;
}

/** What samples say of the ledger: plain data. */
export interface Learnt {
  /** One for each row, in the order of `assumptions`. */
  readonly rows: readonly LearntRow[];
  /** Exactly what the evidence asks for; empty if the deployment is as assumed. For `defineDeployment`. */
  readonly deployment: LearntDeployment;
  /** The deployment with its evidence: `learnt` of `defineDeployment`. Keep it as JSON. */
  readonly file: DeploymentFile;
  /**
   * What to look at: a weak scheme, deliveries that none of the keys signed, an oracle without a result. One
   * forgery changes no row.
   */
  readonly findings: readonly Finding[];
  /** How many deliveries one of the keys has signed, and how many others there were, which prove nothing. */
  readonly deliveries: { readonly genuine: number; readonly others: number };
  /** How many replies were read, and how many lines were no reply. */
  readonly replies: { readonly read: number; readonly others: number };
}

const readOptions = defineOptions('learn', {
  // Sound: each delivery is checked when it is read.
  deliveries: value((given, name) => checkIterable(given, name) as Iterable<CapturedDelivery>, {
    default: [],
  }),
  // Sound: defineCredentials checks each set.
  credentials: value((given) => given as NonNullable<LearnOptions['credentials']>, { default: [] }),
  oracle: optional(callback<SigningOracle>()),
  // Sound: each reply is checked when it is read.
  replies: value((given, name) => checkIterable(given, name) as NonNullable<LearnOptions['replies']>, {
    default: [],
  }),
  // Sound: requireDeployment checks anything.
  deployment: (given) =>
    given === undefined ? defineDeployment<unknown>({}) : requireDeployment(given as Deployment<unknown>),
} satisfies OptionTable<LearnOptions>);

function checkIterable(given: unknown, name: string): object {
  const isIterable =
    typeof given === 'object' &&
    given !== null &&
    (Symbol.iterator in given || Symbol.asyncIterator in given);
  if (isIterable) return given;
  throw invalidOption(`${name} must be a list, or another iterable.`);
}

/**
 * Says which rows of the ledger deliveries and replies of your deployment prove or refute, and what to set instead.
 * Deliveries that none of the keys has signed prove nothing and are counted apart. Needs the same memory for any number
 * of deliveries and replies.
 *
 * @throws {ConfigurationError} `invalid_option`, `invalid_credentials`, `invalid_deployment`; and what `oracle` throws
 * @throws {KeyError} `keys_unavailable`
 * @example
 * ```ts
 * const { rows, deployment } = await learn({ deliveries: [{ body: capturedBody }], credentials });
 * for (const { id, verdict, found } of rows) console.log(id, verdict, found);
 * defineDeployment({ ...deployment, onboardingBaseUrl: 'https://api.example' });
 * ```
 */
export async function learn(options: LearnOptions): Promise<Learnt> {
  const { deliveries, credentials, oracle, replies, deployment } = readOptions(options);
  const sets = isKeyRing(credentials)
    ? (await credentials.current()).verifying
    : [credentials].flat().map(defineCredentials);
  const evidence = createEvidence();
  const orders = createOrderLog();
  const replyCounts = await readReplies(replies, { evidence, orders, deployment });
  const asked = oracle && (await askOracle(oracle, deployment.signature));
  const events = await readEvents(deliveries, { evidence, orders, sets, deployment });
  const scheme = {
    ...(events.schemes.length > 0 || !asked ? events : asked),
    configured: deployment.signature,
  };
  for (const { order, ...sample } of orders.orders())
    evidence.noteEach(sample, (judge) => ('order' in judge ? judge.order(order, deployment) : undefined));
  const rows = assumptions.map(({ id, override }): LearntRow => {
    const judge = rowJudges[id];
    if ('cannot' in judge) return { id, verdict: 'not-seen', samples: 0, found: [], howToSee: judge.cannot };
    if ('part' in judge) return { id, ...concludeScheme(judge, scheme) };
    return { id, ...conclude(judge, evidence.tallyOf(id), override) };
  });
  const refuted = rows.filter(({ set }) => set !== undefined);
  return {
    rows,
    // Sound: two rows that set the same part set it from the same samples.
    deployment: mergeLearnt(refuted.map(({ set }) => set ?? {})) ?? {},
    file: {
      format: deploymentFileFormat,
      until: events.until,
      overrides: refuted.map(({ id, set, samples, digest }) => ({
        row: id,
        set: set ?? {},
        samples,
        digest,
      })),
      rows: rows.map(({ id, verdict, found }) => ({ id, verdict, found })),
    },
    findings: [
      ...(asked?.findings ?? []),
      ...openParts(scheme.schemes),
      ...scheme.schemes.slice(0, 1).flatMap(weakness),
      ...events.strays.findings(events.genuine, { credentials: sets, scheme: deployment.signature }),
    ],
    deliveries: { genuine: events.genuine, others: events.strays.count() },
    replies: replyCounts,
  };
}

/** Says in what the schemes differ that fit all samples. */
function openParts(schemes: readonly SignatureScheme[]): Finding[] {
  const [best] = schemes;
  const parts = schemePartNames.filter((part) => schemes.some((scheme) => scheme[part] !== best?.[part]));
  if (parts.length === 0) return [];
  return [
    {
      id: 'scheme-open',
      verdict: 'weak',
      what: `${schemes.length} schemes fit all samples: they differ in ${parts.join(', ')}. The most plausible is ${JSON.stringify(best)}.`,
      advice: 'Add an event with numbers like 10.0, slashes, letters beyond ASCII and nested members.',
    },
  ];
}

/** Says that a scheme signs less than the text, or that a forger can append to what it signs. */
function weakness({ construction, serialization }: SignatureScheme): Finding[] {
  const { reads, pins } = serializationRules(serialization);
  if (construction !== 'hash-prefix' && reads === 'text' && pins === 'json') return [];
  return [
    {
      id: 'scheme-weak',
      verdict: 'weak',
      what: 'Under this scheme another body can have the signature of a genuine one.',
      advice:
        'Compare every amount, address and id with your own record of the order: docs/details/security.md#schemes-that-sign-less-than-the-text.',
    },
  ];
}
