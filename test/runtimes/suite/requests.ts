import { type Checks, equal } from './checks.ts';
import { delivery } from './fixtures.ts';

type Send = (request: Request) => Promise<Response>;

/** Requests one after the other and at once, to receivers that they share (shared-receivers.ts). */
export async function checkRequests(checks: Checks, send: Send): Promise<void> {
  await Promise.all([
    checkHandling(checks, '/memory', send),
    checkSequence(checks, '/queue', send),
    checkSequence(checks, '/store', send),
  ]);
  await checks.run('/store: what several requests stored is handled by one that drains', async () => {
    equal(await drain(send), { handled: 13, ignored: 0, failed: 0, dead: 0, left: 0 });
    equal(await post(send, '/store', 'A'), 200);
    equal(await drain(send), { handled: 0, ignored: 0, failed: 0, dead: 0, left: 0 });
  });
}

export async function drain(send: Send): Promise<unknown> {
  const response = await send(new Request('http://worker.example/drain', { method: 'POST' }));
  return await response.json();
}

/** Of a receiver that handles before it acknowledges. */
async function checkHandling(checks: Checks, path: string, send: Send): Promise<void> {
  await checkSequence(checks, path, send);
  await checks.run(`${path}: a handler that fails has its delivery handled when it comes again`, async () => {
    const statuses = [await post(send, path, 'fails', 'fail'), await post(send, path, 'fails', 'fail')];
    equal(statuses, [500, 200]);
  });
  await checks.run(`${path}: a handler that never ends is cut off, beside others that go on`, async () => {
    equal(await Promise.all([post(send, path, 'hangs', 'hang'), post(send, path, 'beside it')]), [500, 200]);
    equal(await post(send, path, 'hangs', 'hang'), 200);
  });
}

async function checkSequence(checks: Checks, path: string, send: Send): Promise<void> {
  await checks.run(`${path}: requests one after the other are answered`, async () => {
    for (const id of ['A', 'B', 'A']) equal(await post(send, path, id), 200);
  });
  await checks.run(`${path}: requests at once are answered`, async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `at once ${index}`);
    equal(await Promise.all(ids.map((id) => post(send, path, id))), Array(10).fill(200));
  });
  await checks.run(`${path}: the same delivery twice at once is acknowledged in the end`, async () => {
    const statuses = await Promise.all([post(send, path, 'twice'), post(send, path, 'twice')]);
    equal(statuses.includes(200) && statuses.every((status) => status === 200 || status === 503), true);
    equal(await post(send, path, 'twice'), 200);
  });
}

export async function post(send: Send, path: string, id: string, behave = 'well'): Promise<number> {
  const body = delivery({ partner_order_id: id, behave });
  const headers = { 'content-type': 'application/json' };
  const request = new Request(`http://worker.example${path}`, { method: 'POST', headers, body });
  const response = await send(request);
  await response.text();
  return response.status;
}
