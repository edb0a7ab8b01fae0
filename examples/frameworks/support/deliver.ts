/** For the examples of frameworks: posts a signed event, and says how it was answered. */
import { deliver, refusedDeliveries, signedDelivery } from 'partner-exchange-sdk/testing';
import { credentials, credited } from '../../support/signed-events.ts';

/** Posts the event, and one that was tampered with; throws when they are not answered with 200 and 401. */
export async function deliverTo(url: string): Promise<void> {
  const { tampered } = refusedDeliveries(credited, { credentials });
  for (const [delivery, expected] of [
    [signedDelivery(credited, { credentials }), 200],
    [tampered, 401],
  ] as const) {
    const response = await deliver(url, delivery);
    console.log('answered', response.status, await response.text());
    if (response.status !== expected) throw new Error(`Answered ${response.status}, not ${expected}.`);
  }
}
