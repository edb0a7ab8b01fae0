import { createHash } from 'node:crypto';
import type { RecordSet } from '../store/record-store.ts';
import type { RandomBytes } from './one-time-code.ts';
import { keyedHash, type Secret, seal, unseal } from './secrets.ts';

/** What somebody proves with a code. Only stored sealed. */
export interface FlowContext {
  /** In E.164. */
  readonly to_phone: string;
  readonly purpose: string;
  readonly subject: string | undefined;
  /** The network that asked for the first code. */
  readonly network: string | undefined;
}

/** One code that was sent. */
export interface SentCode {
  readonly digest: string;
  readonly sentAt: number;
  readonly expiresAt: number;
  /** The counters of the network that asked for it, to which a confirmation is credited. */
  readonly networkKey: string | null;
}

/** All codes that are sent for one `issue`: its record in the store. */
export interface Flow {
  /** Which secret it was made with. */
  readonly secret: string;
  readonly context: string;
  readonly codes: readonly SentCode[];
  /** Messages so far, also those whose code was withdrawn because the service refused. */
  readonly sends: number;
  readonly attempts: number;
}

const idBytes = 16;

/** 128 bits: whoever has the id has been given it. */
export function makeId(random: RandomBytes): string {
  return Buffer.from(random(idBytes)).toString('base64url');
}

/** A hash: who can read the store cannot use the id. */
export function flowKey(id: string): string {
  return `otp:flow:${createHash('sha256').update(id).digest('base64url')}`;
}

export function readFlow(records: RecordSet, key: string): Flow | undefined {
  // Sound: only `writeFlow` writes records under these keys.
  return records.get(key) as Flow | undefined;
}

export function writeFlow(records: RecordSet, key: string, flow: Flow): void {
  const { secret, context, codes, sends, attempts } = flow;
  const plain = codes.map((code) => ({ ...code }));
  // We say ourselves what has expired: the record stays a little longer, since a store may have a clock of its own.
  const expiresAt = Math.max(0, ...codes.map((code) => code.expiresAt)) + maxClockSkewMs;
  records.set(key, { secret, context, codes: plain, sends, attempts }, { expiresAt });
}

/** How far the clocks of several machines may be apart. */
const maxClockSkewMs = 60_000;

/**
 * The codes that are valid now. One that was sent in the future is not: the clock has been set back, and nobody knows
 * how old it is.
 */
export function validCodes(flow: Flow, now: number): readonly SentCode[] {
  return flow.codes.filter(({ sentAt, expiresAt }) => sentAt - maxClockSkewMs <= now && now < expiresAt);
}

/** Binds a code to everything that it stands for. Neither the store nor a secret alone is enough to find it. */
export function codeDigest(secret: Secret, id: string, context: FlowContext, code: string): Buffer {
  const { to_phone, purpose, subject } = context;
  // A subject cannot be empty, so empty stands for none.
  return keyedHash(secret, 'code', id, purpose, to_phone, subject ?? '', code);
}

export function sealContext(
  secret: Secret,
  id: string,
  { context, random }: { context: FlowContext; random: RandomBytes },
): string {
  const { to_phone, purpose, subject = null, network = null } = context;
  return seal(secret, id, { text: JSON.stringify([to_phone, purpose, subject, network]), nonce: random(12) });
}

/** `undefined` if the secret is no longer known. */
export function openContext(
  secrets: readonly Secret[],
  id: string,
  flow: Flow,
): { readonly secret: Secret; readonly context: FlowContext } | undefined {
  const secret = secrets.find((one) => one.id === flow.secret);
  const text = secret && unseal(secret, id, flow.context);
  if (secret === undefined || text === undefined) return undefined;
  // Sound: it is authenticated, and `sealContext` made it.
  const [to_phone, purpose, subject, network] = JSON.parse(text) as [
    string,
    string,
    string | null,
    string | null,
  ];
  return {
    secret,
    context: { to_phone, purpose, subject: subject ?? undefined, network: network ?? undefined },
  };
}
