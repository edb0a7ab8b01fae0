import { crc32 } from 'node:zlib';
import { decodeBase58 } from './base58.ts';
import type { FormRules } from './form-rules.ts';

/** `PrintableWrapper` of mobilecoinfoundation/mobilecoin: `api/proto/printable.proto`. */
const wrapped = { publicAddress: 1, paymentRequest: 2, transferPayload: 3, giftCode: 4 } as const;
/** `PublicAddress` of `api/proto/external.proto`; both are a `CompressedRistretto`, whose only field is its bytes. */
const keyFields = [1, 2];
const keyBytes = 32;

/**
 * Base58 of a little-endian CRC-32 and the `PrintableWrapper` that it covers (`api/src/display.rs` of
 * mobilecoinfoundation/mobilecoin). That a chain has this form may be a guess from its name, so a text in another form
 * stays unchecked.
 */
export const mobilecoin: FormRules = {
  examine(text) {
    const bytes = decodeBase58(text);
    const fields = bytes && readWrapper(bytes);
    if (fields === undefined) return isNear(text) ? 'checksum' : 'unknown_form';
    if (fields.has(wrapped.paymentRequest)) return 'form';
    const address = fields.get(wrapped.publicAddress);
    return address !== undefined && hasKeys(address) ? undefined : 'unknown_form';
  },
  isPossible: (reason) => reason === undefined,
  sameText: (text) => text,
  contracts: [],
};

/** Whether the bytes are a wrapper of what spends crypto. */
export function wrapsSecret(bytes: Buffer): boolean {
  const fields = readWrapper(bytes);
  return fields !== undefined && (fields.has(wrapped.transferPayload) || fields.has(wrapped.giftCode));
}

/** `undefined` if the checksum does not fit. */
function readWrapper(bytes: Buffer): ReadonlyMap<number, Uint8Array> | undefined {
  const body = bytes.subarray(4);
  return body.length === 0 || crc32(body) !== bytes.readUInt32LE() ? undefined : readFields(body);
}

/** Whether a text that is no address can only be one with errors: long enough, and nearly all base58. */
function isNear(text: string): boolean {
  const foreign = text.length - text.replace(/[^1-9A-HJ-NP-Za-km-z]/g, '').length;
  return text.length >= leastNear && foreign * leastOfOneForeign <= text.length;
}

/** An address has more than 100 characters. */
const leastNear = 80;
/** Base64 has one in eleven characters that are not base58. */
const leastOfOneForeign = 25;

function hasKeys(address: Uint8Array): boolean {
  const fields = readFields(address);
  return keyFields.every((field) => readFields(fields.get(field) ?? noBytes).get(1)?.length === keyBytes);
}

const noBytes = new Uint8Array();

/** The length-delimited fields of a protobuf message by number, the last one of each; none if it is malformed. */
function readFields(message: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const fields = new Map<number, Uint8Array>();
  let at = 0;
  /** NaN past the end, and past the 53 bits of a number: no length then fits. */
  const readVarint = () => {
    let value = 0;
    for (let factor = 1; factor < 2 ** 53; factor *= 128) {
      const byte = message[at++] ?? Number.NaN;
      value += (byte % 128) * factor;
      if (!(byte >= 128)) return value;
    }
    return Number.NaN;
  };
  while (at < message.length) {
    const tag = readVarint();
    const wireType = tag % 8;
    const length = wireType === 2 ? readVarint() : (fixedLengths[wireType] ?? Number.NaN);
    if (wireType === 0) readVarint();
    if (!(length <= message.length - at)) return new Map();
    if (wireType === 2) fields.set(Math.floor(tag / 8), message.subarray(at, at + length));
    at += length;
  }
  return fields;
}

/** The length of a field, by wire type. A varint has been read when its length is asked for. */
const fixedLengths: Readonly<Record<number, number>> = { 0: 0, 1: 8, 5: 4 };
