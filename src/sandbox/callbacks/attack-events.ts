import type { JsonObject } from '../../json/json-value.ts';
import type { SandboxState } from '../sandbox-state.ts';
import { seededRandom } from '../seeded-random.ts';
import { foreignKey, tamperedText } from './altered-events.ts';
import type { SandboxDelivery } from './delivery.ts';
import { eventText } from './event-text.ts';

/** Posts a copy of an event, signed with a key that nobody issued. @throws {ValidationError} for an unknown delivery */
export function forgeEvent(state: SandboxState, deliveryId: string): Promise<SandboxDelivery> {
  const { deliveryQueue, deployment, options } = state;
  const event = deliveryQueue.eventOf(deliveryId);
  // Sound: the sandbox wrote it, as an object.
  const { signature: _, ...body } = JSON.parse(event.body) as JsonObject;
  const key = foreignKey(seededRandom(options.seed, `forged ${deliveryId}`));
  const text = eventText(body, { key, scheme: deployment.signature, spelling: 'compact' });
  return deliveryQueue.post({ ...event, body: text, faults: ['forged'] });
}

/** Posts a copy of an event with another amount. @throws {ValidationError} for an unknown delivery */
export function tamperEvent({ deliveryQueue }: SandboxState, deliveryId: string): Promise<SandboxDelivery> {
  const event = deliveryQueue.eventOf(deliveryId);
  return deliveryQueue.post({ ...event, body: tamperedText(event.body), faults: ['tampered'] });
}
