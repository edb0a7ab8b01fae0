import type { AssumptionId } from '../deployment/assumptions.ts';
import { type Operation, operationRules } from '../deployment/operations.ts';

/** Which assumptions can be behind a status that is not 2xx. */
export function likelyCauses(operation: Operation, status: number): AssumptionId[] {
  const { assumptions } = operationRules(operation);
  switch (status) {
    case 400:
    case 422:
      return [...only(assumptions.payload), ...signatureIds(operation)];
    case 401:
    case 403:
      return [...signatureIds(operation), 'ip-whitelist'];
    case 404:
    case 405:
      return only(assumptions.path);
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
  if (operationRules(operation).signedWith === 'nothing') return [];
  return ['signature-construction', 'signature-serialization', 'signature-encoding', 'signature-key'];
}
