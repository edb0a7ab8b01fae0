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
import { endpoint, type OutputOf } from './control-endpoint.ts';
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
    faultChange({
      id: 'planFault',
      path: 'faults/next',
      summary: 'Plans a fault for the next request of an operation, or the next event of a name',
      body: z
        .strictObject({ target: schemas.faultTargetSchema, fault: schemas.faultSchema })
        .meta({ examples: [{ target: 'createOrder', fault: 'reply_lost' }] }),
      // Sound: `faults.next` refuses other targets and faults.
      change: (faults, { target, fault }) =>
        faults.next(target as RequestFaultTarget, fault as RequestFaultName),
    }),
    faultChange({
      id: 'setFaultRates',
      path: 'faults/rates',
      summary: 'Sets how often faults happen: everywhere, or at one target',
      body: z
        .strictObject({ target: schemas.faultTargetSchema.optional(), rates: schemas.ratesSchema })
        .meta({ examples: [{ rates: { duplicate: 0.2 } }] }),
      change: (faults, { target, rates }) => setRates(faults, target, rates),
    }),
    faultChange({
      id: 'setFaultRate',
      path: 'faults/rate',
      summary: 'Sets how often one fault happens, everywhere or at one target; the other rates stay',
      body: z
        .strictObject({
          target: schemas.faultTargetSchema.optional(),
          fault: schemas.faultNameSchema,
          rate: schemas.rateSchema,
        })
        .meta({ examples: [{ fault: 'duplicate', rate: 0.2 }] }),
      change: (faults, { target, fault, rate }) =>
        setRates(faults, target, { ...ratesOf(faults, target), [fault]: rate }),
    }),
    faultChange({
      id: 'removeFaultRate',
      path: 'faults/rate/remove',
      summary: 'Removes the rate of one fault, everywhere or at one target; the other rates stay',
      body: z
        .strictObject({ target: schemas.faultTargetSchema.optional(), fault: schemas.faultNameSchema })
        .meta({ examples: [{ fault: 'duplicate' }] }),
      change: (faults, { target, fault }) => {
        const { [fault]: _, ...others } = ratesOf(faults, target);
        setRates(faults, target, others);
      },
    }),
    faultChange({
      id: 'removePlannedFault',
      path: 'faults/next/remove',
      summary: 'Removes each time that one fault is planned at a target; the others stay planned',
      body: z
        .strictObject({ target: schemas.faultTargetSchema, fault: schemas.faultNameSchema })
        .meta({ examples: [{ target: 'createOrder', fault: 'reply_lost' }] }),
      change: (faults, { target, fault: kind }) => {
        const { next, rates } = faults.current;
        faults.clear();
        for (const [at, each] of Object.entries(rates)) setRates(faults, at === 'all' ? undefined : at, each);
        for (const { target: at, fault } of next) {
          if (at === target && (typeof fault === 'string' ? fault : fault.kind) === kind) continue;
          // Sound: it was planned like this before.
          faults.next(at as RequestFaultTarget, fault as RequestFaultName);
        }
      },
    }),
    faultChange({
      id: 'setFaultScenario',
      path: 'faults/scenario',
      summary: 'Sets the rates of a named scenario, in place of all earlier rates',
      body: z.strictObject({ name: z.enum(faultScenarioNames) }).meta({ examples: [{ name: 'hostile' }] }),
      change: (faults, { name }) => faults.scenario(name),
    }),
    faultChange({
      id: 'clearFaults',
      path: 'faults/clear',
      summary: 'Removes every rate and every planned fault',
      body: undefined,
      change: (faults) => faults.clear(),
    }),
  ];
}

/** An operation that changes the faults, and answers with those that are set then. */
function faultChange<const Id extends string, Body extends z.ZodType | undefined>({
  change,
  ...definition
}: {
  id: Id;
  path: string;
  summary: string;
  body: Body;
  change: (faults: SandboxFaults, body: OutputOf<Body>) => void;
}) {
  return endpoint({
    ...definition,
    method: 'POST',
    answer: schemas.faultsSchema,
    handle: ({ body }, { sandbox: { faults } }: Subject) => {
      refuseInvalidOption(() => change(faults, body));
      return faults.current;
    },
  });
}

/** The rates at one target, or everywhere. */
function ratesOf({ current }: SandboxFaults, target: string | undefined): FaultRates {
  // Sound: an unknown name has no rates.
  return current.rates[(target ?? 'all') as FaultTarget | 'all'] ?? {};
}

function setRates(faults: SandboxFaults, target: string | undefined, rates: FaultRates): void {
  if (target === undefined) faults.rate(rates);
  // Sound: `faults.rate` refuses other targets and rates.
  else faults.rate(target as RequestFaultTarget, rates);
}

export function refuseInvalidOption(apply: () => void): void {
  try {
    apply();
  } catch (error) {
    throw isConfigurationError(error) ? new Refusal(400, 'invalid_body', error.message) : error;
  }
}
