import { Checks, type Report } from './checks.ts';
import { checkClients } from './clients.ts';
import { checkEvents } from './events.ts';
import { checkReceiver } from './receiver.ts';
import { checkSignatures } from './signatures.ts';

/** All checks, on whatever runtime this is. */
export async function runSuite(): Promise<Report> {
  const checks = new Checks();
  await checkSignatures(checks);
  await checkEvents(checks);
  await checkReceiver(checks);
  await checkClients(checks);
  return checks.report();
}
