import * as z from 'zod';
import { isConfigurationError } from '../../errors/errors.ts';
import type { SandboxFaults } from '../faults/fault-plan.ts';
import {
  type FaultRates,
  type FaultTarget,
  faultScenarioNames,
  type RequestFaultName,
  type RequestFaultTarget,
} from '../faults/faults.ts';
import { Refusal } from '../requests.ts';
import { endpoint } from './endpoint.ts';
import * as answers from './schemas.ts';

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
      answer: answers.faults,
      handle: (_, { sandbox }: Subject) => sandbox.faults.current,
    }),
    endpoint({
      id: 'planFault',
      method: 'POST',
      path: 'faults/next',
      summary: 'Plans a fault for the next request of an operation, or the next event of a name',
      body: z
        .strictObject({ target: z.string(), fault: answers.fault })
        .meta({ examples: [{ target: 'createOrder', fault: 'reply_lost' }] }),
      answer: answers.faults,
      handle: ({ body }, { sandbox: { faults } }: Subject) => {
        // Sound: `faults.next` refuses other targets and faults.
        const [target, fault] = [body.target as RequestFaultTarget, body.fault as RequestFaultName];
        refuseInvalidOption(() => faults.next(target, fault));
        return faults.current;
      },
    }),
    endpoint({
      id: 'setFaultRates',
      method: 'POST',
      path: 'faults/rates',
      summary: 'Sets how often faults happen: everywhere, or at one target',
      body: z
        .strictObject({ target: z.string().optional(), rates: answers.rates })
        .meta({ examples: [{ rates: { duplicate: 0.2 } }] }),
      answer: answers.faults,
      handle: ({ body: { target, rates } }, { sandbox }: Subject) => setRates(sandbox.faults, target, rates),
    }),
    endpoint({
      id: 'setFaultRate',
      method: 'POST',
      path: 'faults/rate',
      summary: 'Sets how often one fault happens, everywhere or at one target; the other rates stay',
      body: z
        .strictObject({ target: z.string().optional(), fault: answers.faultName, rate: answers.rate })
        .meta({ examples: [{ fault: 'duplicate', rate: 0.2 }] }),
      answer: answers.faults,
      handle: ({ body: { target, fault, rate } }, { sandbox: { faults } }: Subject) =>
        setRates(faults, target, { ...ratesOf(faults, target), [fault]: rate }),
    }),
    endpoint({
      id: 'removeFaultRate',
      method: 'POST',
      path: 'faults/rate/remove',
      summary: 'Removes the rate of one fault, everywhere or at one target; the other rates stay',
      body: z
        .strictObject({ target: z.string().optional(), fault: answers.faultName })
        .meta({ examples: [{ fault: 'duplicate' }] }),
      answer: answers.faults,
      handle: ({ body: { target, fault } }, { sandbox: { faults } }: Subject) => {
        const { [fault]: _, ...others } = ratesOf(faults, target);
        return setRates(faults, target, others);
      },
    }),
    endpoint({
      id: 'removePlannedFault',
      method: 'POST',
      path: 'faults/next/remove',
      summary: 'Removes each time that one fault is planned at a target; the others stay planned',
      body: z
        .strictObject({ target: z.string(), fault: answers.faultName })
        .meta({ examples: [{ target: 'createOrder', fault: 'reply_lost' }] }),
      answer: answers.faults,
      handle: ({ body: { target, fault: kind } }, { sandbox: { faults } }: Subject) => {
        const { next, rates } = faults.current;
        faults.clear();
        for (const [at, each] of Object.entries(rates)) setRates(faults, at === 'all' ? undefined : at, each);
        for (const planned of next) {
          const { target: at, fault } = planned;
          if (at === target && (typeof fault === 'string' ? fault : fault.kind) === kind) continue;
          // Sound: it was planned like this before.
          faults.next(at as RequestFaultTarget, fault as RequestFaultName);
        }
        return faults.current;
      },
    }),
    endpoint({
      id: 'setFaultScenario',
      method: 'POST',
      path: 'faults/scenario',
      summary: 'Sets the rates of a named scenario, in place of all earlier rates',
      body: z.strictObject({ name: z.enum(faultScenarioNames) }).meta({ examples: [{ name: 'hostile' }] }),
      answer: answers.faults,
      handle: ({ body }, { sandbox: { faults } }: Subject) => {
        faults.scenario(body.name);
        return faults.current;
      },
    }),
    endpoint({
      id: 'clearFaults',
      method: 'POST',
      path: 'faults/clear',
      summary: 'Removes every rate and every planned fault',
      answer: answers.faults,
      handle: (_, { sandbox: { faults } }: Subject) => {
        faults.clear();
        return faults.current;
      },
    }),
  ];
}

/** The rates at one target, or everywhere. */
function ratesOf({ current }: SandboxFaults, target: string | undefined): FaultRates {
  // Sound: an unknown name has no rates.
  return current.rates[(target ?? 'all') as FaultTarget | 'all'] ?? {};
}

function setRates(faults: SandboxFaults, target: string | undefined, rates: FaultRates) {
  refuseInvalidOption(() => {
    if (target === undefined) faults.rate(rates);
    // Sound: `faults.rate` refuses other targets and rates.
    else faults.rate(target as RequestFaultTarget, rates);
  });
  return faults.current;
}

export function refuseInvalidOption(apply: () => void): void {
  try {
    apply();
  } catch (error) {
    throw isConfigurationError(error) ? new Refusal(400, 'invalid_body', error.message) : error;
  }
}
