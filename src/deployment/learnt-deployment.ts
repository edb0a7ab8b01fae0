import { findNonJson, isJsonObject } from '../internal/json.ts';
import { checkInteger, invalidOption } from '../internal/options.ts';
import type { SignatureScheme } from '../signature/signature-scheme.ts';
import type { EventStatuses } from './event-statuses.ts';
import type { OrderStatuses, ReplyRules } from './order-reply.ts';
import type { WireNames } from './wire-names.ts';

/**
 * How the service treats a second order with the same id (ledger: `partner-order-id`). `unknown`: it may create a second
 * one. `same-order`: it repeats its first reply. `refused`: with status 409, or with the statuses that are listed.
 */
export type DuplicateIds = 'unknown' | 'same-order' | 'refused' | { readonly refused: readonly number[] };

/** The part of a deployment that can be learnt as data: options of `defineDeployment`. */
export interface LearntDeployment {
  /** How bodies are signed, where that is not the default. */
  readonly signature?: SignatureScheme;
  /** Names of the deployment's own. */
  readonly wireNames?: WireNames;
  /** Replies that accept an order, besides the usual ones. */
  readonly readOrderReply?: ReplyRules;
  /** Replies that accept a message, besides the usual ones. */
  readonly readMessageReply?: ReplyRules;
  /** What other statuses say of an order. */
  readonly orderStatuses?: OrderStatuses;
  /** Further statuses of events. */
  readonly eventStatuses?: EventStatuses;
  /** How a second order with the same id is treated. */
  readonly duplicateIds?: DuplicateIds;
}

/** What a deployment file may set: nothing that traffic cannot show, such as an address or a check that is turned off. */
const learntOptions = {
  signature: true,
  wireNames: true,
  readOrderReply: true,
  readMessageReply: true,
  orderStatuses: true,
  eventStatuses: true,
  duplicateIds: true,
} as const satisfies Readonly<Record<keyof LearntDeployment, true>>;

/** A deployment file: what `learn` of `./diagnostics` has found, with the evidence. Plain JSON. */
export interface DeploymentFile {
  /** The form of the file. A newer one is refused. */
  readonly format: typeof deploymentFileFormat;
  /** When the last of its samples came, in ISO 8601. */
  readonly until?: string | undefined;
  /** What to set, each part with its evidence. */
  readonly overrides: readonly {
    /** The row of the ledger that does not hold. */
    readonly row: string;
    /** Options of `defineDeployment`. */
    readonly set: LearntDeployment;
    /** How many samples say so. */
    readonly samples: number;
    /** The sample's SHA-256: see `LearntRow`. */
    readonly digest?: string | undefined;
  }[];
  /** Each row of the ledger, for `learn --check`. */
  readonly rows: readonly {
    /** The row. */
    readonly id: string;
    /** `proven`, `refuted` or `not-seen`. */
    readonly verdict: string;
    /** What was found. */
    readonly found: readonly string[];
  }[];
}

export const deploymentFileFormat = 'partner-exchange-deployment/1';

/** @throws {ConfigurationError} `invalid_option` */
export function readDeploymentFile(given: unknown, name: string): DeploymentFile {
  const format = isJsonObject(given) ? given.format : undefined;
  if (typeof format !== 'string' || !format.startsWith('partner-exchange-deployment/'))
    throw invalidOption(`${name} is not a deployment file: take one that learn has made.`);
  if (format !== deploymentFileFormat)
    throw invalidOption(
      `${name} has the form ${format.slice(0, 64)}, and this version reads ${deploymentFileFormat}.`,
      'Update this package, or write the file again with this version.',
    );
  const { overrides, rows } = isJsonObject(given) ? given : {};
  const isWhole =
    Array.isArray(overrides) &&
    overrides.every((each) => isJsonObject(each) && typeof each.row === 'string' && isJsonObject(each.set)) &&
    Array.isArray(rows) &&
    rows.every((row) => isJsonObject(row) && typeof row.id === 'string' && Array.isArray(row.found)) &&
    // It would also find one that is nested too deeply.
    findNonJson(given) === undefined;
  if (!isWhole) throw invalidOption(`${name} is no deployment file that learn wrote.`);
  // Sound: the options in it are checked like any others, and of the rest the parts that are used.
  const file = given as unknown as DeploymentFile;
  const other = file.overrides
    .flatMap(({ set }) => Object.keys(set))
    .find((option) => !Object.hasOwn(learntOptions, option));
  if (other !== undefined)
    throw invalidOption(
      `${name} sets "${other.slice(0, 64)}", and a deployment file sets only ${Object.keys(learntOptions).join(', ')}.`,
      'Set it in code.',
    );
  return file;
}

/** @throws {ConfigurationError} `invalid_option` if two overrides contradict each other */
export function overridesIn({ overrides }: DeploymentFile, name: string): LearntDeployment {
  const merged = mergeLearnt(overrides.map(({ set }) => set));
  if (merged !== undefined) return merged;
  throw invalidOption(`Two overrides of ${name} contradict each other.`);
}

/** `undefined` if two of them contradict each other. */
export function mergeLearnt(parts: readonly LearntDeployment[]): LearntDeployment | undefined {
  // Sound: each member is of one of the two, or of both merged member by member.
  return parts.reduce((merged: unknown, part) => merged && mergeValues(merged, part), {}) as
    | LearntDeployment
    | undefined;
}

/** Members of objects and items of lists are united; other values have to be equal. */
function mergeValues(one: unknown, other: unknown): unknown {
  if (one === undefined || JSON.stringify(one) === JSON.stringify(other)) return other;
  if (Array.isArray(one) && Array.isArray(other)) {
    const texts = new Set([...one, ...other].map((each) => JSON.stringify(each)));
    return [...texts].map((text): unknown => JSON.parse(text));
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return undefined;
  const merged: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const both = mergeValues(merged[name], value);
    if (both === undefined) return undefined;
    merged[name] = both;
  }
  return merged;
}

/** @throws {ConfigurationError} `invalid_option` */
export function checkDuplicateIds(given: unknown, name: string): DuplicateIds {
  if (given === 'unknown' || given === 'same-order' || given === 'refused') return given;
  const refused = isJsonObject(given) && Object.keys(given).length === 1 ? given.refused : undefined;
  if (!Array.isArray(refused) || refused.length === 0)
    throw invalidOption(`${name} must be 'unknown', 'refused', 'same-order' or { refused: [status] }.`);
  return {
    refused: refused.map((status) => checkInteger(`status of ${name}`, status, { least: 400, most: 499 })),
  };
}
