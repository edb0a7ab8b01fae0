import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import type { TraceEntry } from '../../../src/devtools/sandbox/world/trace.ts';
import { nextTurn } from '../../support/next-turn.ts';
import { startStory } from './story.ts';

interface Event {
  readonly id?: number;
  readonly name?: string;
  readonly data: TraceEntry & { readonly after: number; readonly before: number };
}

/** Reads events until there are as many as wanted, then leaves. */
async function read(url: string, wanted: number, headers: Record<string, string> = {}): Promise<Event[]> {
  const leave = new AbortController();
  const response = await fetch(url, { headers, signal: leave.signal });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events: Event[] = [];
  let rest = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (rest + chunk).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const fields = new Map(part.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
      const data = fields.get('data');
      if (data === undefined) continue;
      const [id, name] = [fields.get('id'), fields.get('event')];
      events.push({ data: JSON.parse(data), ...(id && { id: Number(id) }), ...(name && { name }) });
    }
    if (events.length >= wanted) break;
  }
  leave.abort();
  return events;
}

const streamOf = (url: string) => `${url}/_sandbox/trace/stream`;

describe('the event stream', () => {
  it('gives what there is and what comes, as the trace has it', async () => {
    await using story = await startStory();
    const there = story.sandbox.trace.entries.length;
    const reading = read(streamOf(story.server.url), there + 4);
    await story.order('A-1');
    const events = await reading;
    await story.sandbox.idle();
    const { entries } = story.sandbox.trace;
    expect(events.map(({ id }) => id)).toEqual(entries.slice(0, events.length).map(({ id }) => id));
    expect(events.map(({ data }) => data)).toEqual(
      JSON.parse(JSON.stringify(entries.slice(0, events.length))),
    );
    expect(events.at(there)?.data).toMatchObject({ kind: 'request', operation: 'createOrder', order: 'A-1' });
  });

  it('goes on behind the Last-Event-ID, which goes before the query', async () => {
    await using story = await startStory();
    const url = streamOf(story.server.url);
    const all = await read(url, 4);
    expect(await read(url, 1, { 'last-event-id': '3' })).toEqual(all.slice(3));
    expect(await read(`${url}?after=2`, 2)).toEqual(all.slice(2));
    expect(await read(`${url}?after=2`, 1, { 'last-event-id': '3' })).toEqual(all.slice(3));
    // That of a sandbox before a restart, or of nobody.
    expect(await read(url, 4, { 'last-event-id': '5000' })).toEqual(all);
    expect(await read(url, 4, { 'last-event-id': 'x' })).toEqual(all);
  });

  it('leaves out headers and bodies on request', async () => {
    await using story = await startStory();
    const [first] = await read(`${streamOf(story.server.url)}?bodies=false`, 1);
    expect(first?.data).toMatchObject({ operation: 'onboard', kind: 'request' });
    expect(Object.keys(first?.data ?? {})).not.toContain('body');
    expect(Object.keys(first?.data ?? {})).not.toContain('headers');
  });

  it('says what is forgotten', async () => {
    const sandbox = createSandbox({ maxRemembered: 10 });
    const server = await sandbox.listen();
    for (let round = 0; round < 20; round++) await sandbox.fetch('https://sandbox.localhost/nothing');
    const events = await read(`${streamOf(server.url)}?after=3`, 11);
    expect(events[0]).toEqual({ name: 'forgotten', data: { after: 3, before: 31 } });
    expect(events.slice(1).map(({ id }) => id)).toEqual([31, 32, 33, 34, 35, 36, 37, 38, 39, 40]);
    await server.close();
  });

  it('fills no memory for a reader that does not read, and holds nobody up', async () => {
    const sandbox = createSandbox({ maxRemembered: 20 });
    const server = await sandbox.listen();
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.pause();
    socket.write('GET /_sandbox/trace/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const body = 'x'.repeat(500_000);
    for (let round = 0; round < 80; round++) {
      await sandbox.fetch('https://sandbox.localhost/nothing', { method: 'POST', body });
      // The stream gets its turn, too: it could send each of them.
      await nextTurn();
    }
    let size = 0;
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      size += chunk.length;
      received = (received + chunk.replaceAll(/x{9,}/g, '')).slice(-50_000);
    });
    socket.resume();
    const last = sandbox.trace.entries.at(-1)?.id;
    await expect.poll(() => received.includes(`id: ${last}\n`), { timeout: 10_000 }).toBe(true);
    // 40 MB went by. What was not read is not kept for this reader: it is told what it has missed.
    expect(received).toContain('event: forgotten');
    expect(size).toBeLessThan(20_000_000);
    socket.destroy();
    await server.close();
  });

  it('ends with the server', async () => {
    const server = await createSandbox().listen();
    const response = await fetch(streamOf(server.url));
    const ended = response.text().catch(() => 'broken off');
    await server.close();
    await ended;
  });
});
