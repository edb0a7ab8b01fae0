import { MessengerClient } from '../../../client/messenger-client.ts';
import type { Operation } from '../../../deployment/operations.ts';
import type { CliContext } from '../terminal/context.ts';
import { readConfiguration, requireAddress } from './configuration.ts';
import { secretOrAsk } from './input.ts';

/** A client with the API key of a device, which is asked for if it is not set. */
export async function openDevice(context: CliContext, operation: Operation): Promise<MessengerClient> {
  const { deployment, apiKey: given } = await readConfiguration(context);
  requireAddress(deployment, operation);
  const question = 'API key of the device';
  const apiKey = await secretOrAsk(context, { variable: 'MESSENGER_API_KEY', given, question });
  return new MessengerClient({ deployment, apiKey, fetch: context.fetch });
}
