import { checkAnswers } from './answers.ts';
import type { Checks } from './checks.ts';
import { checkClients } from './clients.ts';
import { checkEntries } from './entries.ts';
import { checkOneTimeCodes } from './one-time-codes.ts';
import type { Platform } from './platform.ts';
import { checkSandbox } from './sandbox.ts';
import { checkSentOnce } from './sent-once.ts';
import { checkSignatures } from './signatures.ts';
import { checkNoSqlite, checkSqliteInbox } from './sqlite-inbox.ts';

/** All checks that need no more than a platform. */
export async function runSuite(checks: Checks, { serve, servers, sqliteFolder }: Platform): Promise<void> {
  await checkEntries(checks);
  await checkSignatures(checks);
  await checkAnswers(checks, 'fetch', async (webhooks) => ({
    url: 'https://partner.example/orders',
    send: webhooks.fetch,
    close: async () => {},
  }));
  await checkAnswers(checks, 'node', (webhooks) => serve(webhooks.node));
  if (sqliteFolder === undefined) await checkNoSqlite(checks);
  else await checkSqliteInbox(checks, sqliteFolder);
  await checkOneTimeCodes(checks);
  await checkClients(checks);
  await checkSentOnce(checks, servers);
  await checkSandbox(checks);
}
