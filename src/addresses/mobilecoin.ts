import { crc32 } from 'node:zlib';
import { decodeBase58 } from './base58.ts';
import type { FormRules } from './form-rules.ts';

/** The base58 of two keys of 32 bytes, of their frames and of the checksum has more digits than this. */
const leastDigits = 90;

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
    if (bytes === undefined) return 'unknown_form';
    const body = bytes.subarray(4);
    if (body.length === 0 || crc32(body) !== bytes.readUInt32LE()) {
      return text.length < leastDigits ? 'unknown_form' : 'checksum';
    }
    const fields = readFields(body);
    if (fields.has(wrapped.transferPayload) || fields.has(wrapped.giftCode)) return 'secret';
    if (fields.has(wrapped.paymentRequest)) return 'form';
    const address = fields.get(wrapped.publicAddress);
    return address !== undefined && hasKeys(address) ? undefined : 'unknown_form';
  },
  isPossible: (reason) => reason === undefined,
  sameText: (text) => text,
  contracts: [],
};

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

/** By wire type. A varint has been read when its length is asked for. */
const fixedLengths: Readonly<Record<number, number>> = { 0: 0, 1: 8, 5: 4 };
