import { isConfigurationError } from '../../../errors/errors.ts';
import { Refusal } from '../wire/requests.ts';
import type { SandboxFaults } from '../world/fault-plan.ts';
import { endpoint } from './control-endpoint.ts';
import * as schemas from './schemas.ts';

interface Subject {
  readonly sandbox: { readonly faults: SandboxFaults };
}

export function faultOperations() {
  return [
    endpoint({
      id: 'planFault',
      method: 'POST',
      path: 'faults',
      summary: 'Plans a fault, for the next time or at a rate',
      body: schemas.plannedFaultSchema.meta({ examples: [{ target: 'createOrder', fault: 'reply_lost' }] }),
      answer: schemas.doneSchema,
      handle: ({ body: { target, fault, rate } }, { sandbox: { faults } }: Subject) => {
        // Sound: `plan` refuses other targets and faults.
        refuseInvalidOption(() => faults.plan(target as 'event', fault as 'drop', { rate }));
        return { done: true };
      },
    }),
    endpoint({
      id: 'clearFaults',
      method: 'DELETE',
      path: 'faults',
      summary: 'Removes all planned faults',
      answer: schemas.doneSchema,
      handle: (_, { sandbox: { faults } }: Subject) => {
        faults.clear();
        return { done: true };
      },
    }),
  ];
}

export function refuseInvalidOption(apply: () => void): void {
  try {
    apply();
  } catch (error) {
    throw isConfigurationError(error) ? new Refusal(400, 'invalid_body', error.message) : error;
  }
}
