import type { AssumptionId } from '../deployment/assumptions.ts';
import type { Operation } from '../deployment/paths.ts';

const signed: readonly Operation[] = ['regenerateKeys', 'createOrder'];

const path: Partial<Record<Operation, AssumptionId>> = {
  regenerateKeys: 'regeneration-path',
  createOrder: 'order-path',
  scanDevice: 'branded-names',
  checkNumber: 'number-check',
};

const payload: Partial<Record<Operation, AssumptionId>> = {
  createOrder: 'order-payload',
  generateApiKey: 'branded-names',
  checkNumber: 'number-check',
  sendMessage: 'verify-check',
};

/** Which assumptions can be behind a status that is not 2xx. */
export function likelyCauses(operation: Operation, status: number): AssumptionId[] {
  switch (status) {
    case 400:
    case 422:
      return [...only(payload[operation]), ...signatureIds(operation)];
    case 401:
    case 403:
      return [...signatureIds(operation), 'ip-whitelist'];
    case 404:
    case 405:
      return only(path[operation]);
    case 429:
      return ['request-limits'];
    default:
      return [];
  }
}

function only(id: AssumptionId | undefined): AssumptionId[] {
  return id === undefined ? [] : [id];
}

function signatureIds(operation: Operation): AssumptionId[] {
  if (!signed.includes(operation)) return [];
  return ['signature-construction', 'signature-serialization', 'signature-encoding', 'signature-key'];
}
