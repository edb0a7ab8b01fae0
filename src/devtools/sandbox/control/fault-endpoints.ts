import * as z from 'zod';
import { isConfigurationError } from '../../../errors/errors.ts';
import { faultScenarioNames } from '../settings/faults.ts';
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
      id: 'getFaults',
      method: 'GET',
      path: 'faults',
      summary: 'Planned faults and rates',
      answer: schemas.faultsSchema,
      handle: (_, { sandbox }: Subject) => sandbox.faults.current,
    }),
    endpoint({
      id: 'setFaults',
      method: 'POST',
      path: 'faults',
      summary: 'Replaces all planned faults and rates; `{}` removes them',
      body: schemas.faultsSchema.partial().meta({
        examples: [
          {
            next: [{ target: 'createOrder', fault: 'reply_lost' }],
            rates: { all: { duplicate: 0.2 } },
          },
        ],
      }),
      answer: schemas.faultsSchema,
      handle: ({ body }, { sandbox: { faults } }: Subject) => {
        // Sound: `faults.set` refuses other targets and faults.
        refuseInvalidOption(() => faults.set(body as Partial<SandboxFaults['current']>));
        return faults.current;
      },
    }),
    endpoint({
      id: 'setFaultScenario',
      method: 'POST',
      path: 'faults/scenario',
      summary: 'Replaces all rates by those of a scenario',
      body: z.strictObject({ name: z.enum(faultScenarioNames) }).meta({ examples: [{ name: 'hostile' }] }),
      answer: schemas.faultsSchema,
      handle: ({ body }, { sandbox: { faults } }: Subject) => {
        faults.scenario(body.name);
        return faults.current;
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
