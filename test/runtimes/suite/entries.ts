import { type Checks, equal } from './checks.ts';

/** Every entry, with a function of it. */
const entries: readonly [load: () => Promise<object>, name: string][] = [
  [() => import('partner-exchange-sdk'), 'defineDeployment'],
  [() => import('partner-exchange-sdk/signature'), 'verifyBody'],
  [() => import('partner-exchange-sdk/events'), 'parseOrderEvent'],
  [() => import('partner-exchange-sdk/webhooks'), 'createWebhooks'],
  [() => import('partner-exchange-sdk/inbox'), 'memoryInbox'],
  [() => import('partner-exchange-sdk/store'), 'memoryStore'],
  [() => import('partner-exchange-sdk/orders'), 'createOrderJournal'],
  [() => import('partner-exchange-sdk/keys'), 'createKeyRotation'],
  [() => import('partner-exchange-sdk/diagnostics'), 'attackReceiver'],
  [() => import('partner-exchange-sdk/otp'), 'createOtp'],
  [() => import('partner-exchange-sdk/sandbox'), 'createSandbox'],
  [() => import('partner-exchange-sdk/testing'), 'eventBody'],
];

export async function checkEntries(checks: Checks): Promise<void> {
  for (const [load, name] of entries) {
    await checks.run(`the entry with ${name} loads`, async () => {
      equal(typeof Object.entries(await load()).find(([key]) => key === name)?.[1], 'function');
    });
  }
}
