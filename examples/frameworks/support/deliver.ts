/** For the examples of frameworks: posts a signed event, and says how it was answered. */
import { signedEvent } from '../../support/signed-events.ts';

/** Posts the event, and one that was tampered with; throws when they are not answered with 200 and 401. */
export async function deliverTo(url: string): Promise<void> {
  const genuine = signedEvent();
  for (const [body, expected] of [
    [genuine, 200],
    [genuine.replace('A-1001', 'A-1002'), 401],
  ] as const) {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    console.log('answered', response.status, await response.text());
    if (response.status !== expected) throw new Error(`Answered ${response.status}, not ${expected}.`);
  }
}
