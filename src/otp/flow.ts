import { createHash } from 'node:crypto';
import { isConfigurationError, OtpError } from '../errors/errors.ts';
import type { RandomBytes } from '../internal/options.ts';
import { latinDigits } from '../internal/printable-text.ts';
import { clockSkewMs } from '../store/lease.ts';
import type { RecordSet, RecordStore } from '../store/record-store.ts';
import { storedForm } from '../store/stored-form.ts';
import { keyedHash, type Secret, seal, unseal } from './otp-secrets.ts';

/** What a code confirms, and the network that asked for it. Stored encrypted only. */
export interface FlowContext {
  /** The phone number, in E.164. */
  readonly to_phone: string;
  readonly purpose: string;
  readonly subject: string | undefined;
  readonly network?: string | undefined;
}

export interface SentCode {
  readonly digest: string;
  readonly sentAt: number;
  readonly expiresAt: number;
}

/** The record of one `issue`, with all codes that were sent for it. */
export interface Flow {
  /** The id of the secret that it was made with. */
  readonly secret: string;
  readonly context: string;
  readonly codes: readonly SentCode[];
  /** Messages so far, including those whose code was withdrawn because the service refused. */
  readonly sends: number;
  readonly attempts: number;
}

const flowForm = storedForm<Flow>('The record of a code', {
  secret: true,
  context: true,
  codes: true,
  sends: true,
  attempts: true,
});

/** A hash, so that readers of the store cannot use the id. */
export function flowKey(id: string): string {
  return `otp:flow:${createHash('sha256').update(id).digest('base64url')}`;
}

export function readFlow(records: RecordSet, key: string): Flow | undefined {
  return flowForm.read(records.get(key));
}

export function writeFlow(records: RecordSet, key: string, flow: Flow): void {
  // `validCodes` decides what has expired; the store may have a clock of its own.
  const expiresAt = Math.max(0, ...flow.codes.map((code) => code.expiresAt)) + clockSkewMs;
  records.set(key, flowForm.write(flow, records.get(key)), { expiresAt });
}

/** A code sent in the future is not valid: the clock was set back, so its age is unknown. */
export function validCodes(flow: Flow, now: number): readonly SentCode[] {
  return flow.codes.filter(({ sentAt, expiresAt }) => sentAt - clockSkewMs <= now && now < expiresAt);
}

/** Finding the code takes both the store and a secret. */
export function codeDigest(secret: Secret, id: string, context: FlowContext, code: string): Buffer {
  const { to_phone, purpose, subject } = context;
  // A subject cannot be empty, so an empty text stands for no subject.
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
  const secret = secrets.find(({ id }) => id === flow.secret);
  const text = secret && unseal(secret, id, flow.context);
  if (secret === undefined || text === undefined) return undefined;
  // Sound: it is authenticated, and `sealContext` made it.
  const [to_phone, purpose, subject, network] = JSON.parse(text) as [string, string, ...(string | null)[]];
  const context = { to_phone, purpose, subject: subject ?? undefined, network: network ?? undefined };
  return { secret, context };
}

/** A byte from 250 would make 0 to 5 more likely. */
const fairBytes = 250;
/** One byte in 43 is refused: a source that gives no usable byte in so many draws is broken. */
const maxDraws = 100;

/** A code of decimal digits, all equally likely. */
export function makeCode(length: number, random: RandomBytes): string {
  let code = '';
  for (let draw = 0; draw < maxDraws; draw++) {
    for (const byte of random(length)) {
      if (byte < fairBytes) code += String(byte % 10);
      if (code.length === length) return code;
    }
  }
  throw new Error('The source of random bytes is broken.');
}

/** Longer than any code with blanks between its digits. */
const maxTyped = 100;

/** The code in a text: its digits, of any script, also with blanks or dashes between; `undefined` if it is none. */
export function readTypedCode(text: string, length: number): string | undefined {
  if (text.length > maxTyped) return undefined;
  const code = latinDigits(text).replace(/[\s\p{Pd}]/gu, '');
  return code.length === length && /^\d+$/.test(code) ? code : undefined;
}

/** @param what names the failure @throws {OtpError} `store_unavailable` */
export async function transact<Result>(
  store: RecordStore,
  keys: readonly string[],
  change: (records: RecordSet) => Result,
  what = 'The store of the one-time codes failed.',
): Promise<Result> {
  try {
    return await store.transact(keys, change);
  } catch (error) {
    // Our mistake, not the store's.
    if (isConfigurationError(error)) throw error;
    throw new OtpError('store_unavailable', what, { cause: error });
  }
}
