import { ValidationError } from '../../../errors/errors.ts';
import type { SandboxDelivery } from '../world/delivery.ts';
import type { SandboxOrderStep } from '../world/order-registry.ts';
import type { SandboxState } from '../world/state.ts';
import { postEvent, type SandboxEvent, sandboxEvent } from './post-event.ts';

interface ScenarioRules {
  readonly steps: readonly SandboxOrderStep[];
  /** How the events of the steps are posted. @default one after each step */
  readonly events?: 'reversed' | 'twice' | 'never';
}

/** The course of an order from its creation to its end. docs/details/sandbox.md says what each one plays. */
export const orderScenarios = {
  happy: { steps: ['fiat_received', 'credited'] },
  kyc_then_credited: { steps: ['no_kyc', 'fiat_received', 'credited'] },
  kyc_then_refund: { steps: ['no_kyc', 'refunded'] },
  third_party_then_credited: { steps: ['third_party_payment', 'fiat_received', 'credited'] },
  third_party_then_refund: { steps: ['third_party_payment', 'refunded'] },
  third_party_error_then_refund: { steps: ['third_party_error', 'refunded'] },
  refund: { steps: ['fiat_received', 'refunded'] },
  credited_then_closed: { steps: ['fiat_received', 'credited', 'refunded'] },
  refunded_then_credited: { steps: ['fiat_received', 'refunded', 'credited'] },
  events_reversed: { steps: ['fiat_received', 'credited'], events: 'reversed' },
  events_repeated: { steps: ['fiat_received', 'credited'], events: 'twice' },
  events_lost: { steps: ['fiat_received', 'credited'], events: 'never' },
} as const satisfies Record<string, ScenarioRules>;

/** The name of a scenario: see {@link orderScenarios}. @useDeclaredType */
export type OrderScenario = keyof typeof orderScenarios;

// Sound: the keys of the table.
export const orderScenarioNames = Object.keys(orderScenarios) as OrderScenario[];

/**
 * @returns the events in the order in which they were posted, each answered or given up
 * @throws {ValidationError} for an unknown order or scenario, or an order that is not new
 */
export async function playOrder(
  state: SandboxState,
  name: string,
  scenario: OrderScenario,
): Promise<readonly SandboxDelivery[]> {
  if (!Object.hasOwn(orderScenarios, scenario)) {
    const message = `must be one of ${orderScenarioNames.join(', ')}`;
    throw new ValidationError('play', [{ path: ['scenario'], message }]);
  }
  const { steps, events }: ScenarioRules = orderScenarios[scenario];
  const { platform_order_ref: ref, state: before } = state.orders.find(name);
  if (before !== 'created') {
    const message = `is "${before}" already: a scenario begins with a new order`;
    throw new ValidationError('play', [{ path: ['order'], message }]);
  }
  const advance = (step: SandboxOrderStep) => advanceOrder(state, ref, step, 'any');
  if (events === 'never') {
    steps.map(advance);
    return [];
  }
  if (events === 'reversed') return post(steps.map(advance).reverse());
  const deliveries = await post(steps.map(advance));
  if (events !== 'twice') return deliveries;
  return Promise.all(deliveries.map(({ id }) => state.deliveryQueue.redeliver(id)));

  /** All at once: the queue posts the events of one order one after another. */
  function post(events: readonly SandboxEvent[]): Promise<SandboxDelivery[]> {
    return Promise.all(events.map((event) => postEvent(state, event).delivery));
  }
}

/**
 * Moves an order one step on, and returns the event of that step.
 *
 * @throws {ValidationError} for an unknown order, or a step that cannot follow
 * @throws {ConfigurationError} if the option `event` fails; the order stays as it is
 */
export function advanceOrder(
  state: SandboxState,
  ...step: Parameters<SandboxState['orders']['next']>
): SandboxEvent {
  const event = sandboxEvent(state, state.orders.next(...step));
  state.orders.save(event.order);
  return event;
}
