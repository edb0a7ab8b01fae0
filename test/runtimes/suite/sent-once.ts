import { defineDeployment, ExchangeClient, isRequestError } from 'partner-exchange-sdk';
import type { RecordedRequest } from '../../support/recording-server.ts';
import { type SentOnceCase, sentOnceCases, sentOnceCasesOfHttp2 } from '../../support/sent-once.ts';
import { type Checks, equal } from './checks.ts';
import { credentials, order, sleep } from './fixtures.ts';
import type { Servers } from './platform.ts';

/** Of the runtime's own fetch, which sends some requests again by itself. */
export async function checkSentOnce(checks: Checks, { http, http2 }: Servers): Promise<void> {
  const recorded = async (id: string): Promise<RecordedRequest[]> => {
    const response = await fetch(`${http}/requests/${id}`);
    // Sound: the server is the suite's own.
    return (await response.json()) as RecordedRequest[];
  };
  for (const one of sentOnceCases) await checkCase(checks, http, one, recorded);
  if (http2 === undefined) return;
  if ((await fetch(`${http2}/answer-200/probe`)).status === 426) return;
  checks.note('with HTTP/2');
  for (const one of sentOnceCasesOfHttp2) await checkCase(checks, http2, one, recorded);
}

async function checkCase(
  checks: Checks,
  server: string,
  { behaviour, outcomes, status, large }: SentOnceCase,
  recorded: (id: string) => Promise<RecordedRequest[]>,
): Promise<void> {
  const scheme = new URL(server).protocol === 'https:' ? 'HTTP/2' : 'HTTP/1.1';
  for (const reused of [false, true]) {
    const name = `${scheme} ${behaviour}${reused ? ' on a used connection' : ''}`;
    await checks.run(`${name}: an order is sent once, and the outcome is true`, async () => {
      const id = crypto.randomUUID();
      if (reused) await leaveConnection(server);
      const note = large ? { note: 'x'.repeat(1_000_000) } : {};
      const result = await outcomeOf(`${server}/${behaviour}/${id}`, note);
      // real time: for what the runtime might send behind it.
      await sleep(20);
      const requests = await recorded(id);
      equal(requests.length, 1);
      if (reused) equal(requests[0]?.reusedConnection, true);
      equal(requests[0]?.headers['transfer-encoding'], undefined);
      equal(Number(requests[0]?.headers['content-length']) > 0, true);
      equal([outcomes.some((outcome) => outcome === result.outcome), result.outcome], [true, result.outcome]);
      equal(result.attempts, 1);
      // Without one, workerd tells a 100 as the status.
      if (status !== undefined) equal(result.status, status);
    });
  }
}

async function leaveConnection(server: string): Promise<void> {
  await (await fetch(`${server}/answer-200/use`)).text();
  // real time: the connection becomes idle.
  await sleep(10);
}

async function outcomeOf(url: string, note: { note?: string }) {
  const deployment = defineDeployment({
    onboardingBaseUrl: url,
    stagingUrl: url,
    messengerBaseUrl: url,
  });
  const client = new ExchangeClient({
    deployment,
    credentials,
    timeoutMs: 5_000,
    retry: { firstDelayMs: 1 },
  });
  try {
    await client.createOrder({ ...order, ...note });
    return { outcome: 'done', status: undefined, attempts: 1 };
  } catch (error) {
    if (!isRequestError(error)) throw error;
    return error;
  }
}
