import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  exportSession,
  importSession,
  maxSessionBytes,
  readSession,
  sessionFormat,
} from '../../src/sandbox/control/session.ts';
import { createTraceLog, type TraceFacts, type TraceLog } from '../../src/sandbox/trace.ts';

const newLog = (maxEntries = 1000) => createTraceLog({ now: () => 1_700_000_000_000, maxEntries, seed: '' });
const exported = ({ view }: TraceLog, secrets: readonly string[] = []) =>
  exportSession({ source: 'sandbox', trace: view, secrets: () => secrets });
const asFile = (session: object) => JSON.parse(JSON.stringify(session));

const event: TraceFacts = {
  kind: 'event',
  event: 'event.buy.init',
  order: 'A-1',
  method: 'POST',
  url: 'http://127.0.0.1:4011/orders',
  headers: { 'content-type': 'application/json', authorization: 'Bearer pk_partner_1234567890' },
  body: `{"a": 1.0,\n"signature":"${'ab'.repeat(64)}"}`,
};

describe('the file of a session', () => {
  it('gives back every exchange, marked as imported, with its own time and the exact text of its events', () => {
    const log = newLog();
    const exchange = log.add(event);
    log.add({
      kind: 'event_reply',
      exchange,
      status: 401,
      durationMs: 3,
      headers: { date: 'today' },
      body: 'no',
    });
    const other = createTraceLog({ now: () => 5, maxEntries: 1000, seed: '' });
    other.add({ kind: 'fault', faults: ['drop'] });
    expect(importSession(readSession(asFile(exported(log))), other.add)).toBe(2);
    expect(other.view.entries.slice(1)).toMatchObject([
      { id: 2, exchange: 2, time: 1_700_000_000_000, imported: true, body: event.body, order: 'A-1' },
      {
        id: 3,
        exchange: 2,
        status: 401,
        durationMs: 3,
        imported: true,
        body: 'no',
        headers: { date: 'today' },
      },
    ]);
  });

  it.each(['createOrder', 'regenerateKeys'] as const)('keeps the signature of a request: %s', (operation) => {
    const log = newLog();
    const body = `{"partner_id":"1","signature":"${'ab'.repeat(64)}"}`;
    log.add({ kind: 'request', operation, body });
    log.add({ kind: 'reply', operation, body: `{"secret_key":"${'cd'.repeat(32)}"}` });
    const [request, reply] = exported(log).entries;
    expect(request?.body).toBe(body);
    expect(reply?.body).not.toContain('cdcd');
  });

  it('holds no key, no authorization, no query value, and no token of a link', () => {
    const log = newLog();
    const secrets = ['sk_partner_0123456789', 'odd secret ✓'];
    const [word = '', odd = ''] = secrets;
    log.add({ ...event, body: `{"x":"${word}","y":"${odd}"}` });
    log.add({
      kind: 'request',
      operation: 'sendMessage',
      body: '{"api_key":"foreign-key","password":"hunter22"}',
    });
    log.add({ kind: 'request', operation: 'scanDevice', url: 'http://127.0.0.1:1/scan?api_key=foreign-key' });
    log.add({ kind: 'request', operation: 'openLink', url: 'http://127.0.0.1:1/one-time/foreign-key' });
    log.add({
      kind: 'reply',
      headers: { 'set-cookie': 'foreign-key', 'x-api-key': 'foreign-key' },
      note: word,
    });
    log.add({ kind: 'request', headers: { cookie: 'foreign-key', 'x-any-gateway': 'foreign-key' } });
    const text = JSON.stringify(exported(log, secrets));
    for (const secret of [...secrets, 'foreign-key', 'hunter22', 'pk_partner_1234567890'])
      expect(text).not.toContain(secret);
    expect(text).toContain('"authorization":"[redacted]"');
    expect(text).toContain('scan?api_key=[redacted]');
  });

  it('can always be read again, whatever the trace holds', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom('\u001b[31m', '__proto__', '\0'),
    );
    const value = fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map((unit) => String.fromCharCode(unit)),
    });
    const name = fc.oneof(
      fc.stringMatching(/^[a-z-]{1,9}$/),
      fc.constantFrom('__proto__', 'constructor', 'a b', 'é'),
    );
    const facts = fc.record(
      {
        kind: fc.constantFrom('request', 'reply', 'event', 'event_reply', 'fault'),
        event: text,
        order: text,
        url: fc.oneof(text, fc.webUrl({ withQueryParameters: true })),
        status: fc.integer({ min: 100, max: 599 }),
        headers: fc.array(fc.tuple(name, value)).map((pairs) => Object.fromEntries(pairs)),
        body: text,
        note: text,
        faults: fc.array(text),
      },
      { requiredKeys: ['kind'] },
    );
    fc.assert(
      fc.property(fc.array(facts, { maxLength: 8 }), (all) => {
        const log = newLog(6);
        // Sound: only `kind` is required.
        for (const each of all) log.add(each as TraceFacts);
        const first = asFile(exported(log));
        const other = newLog();
        importSession(readSession(first), other.add);
        const again = asFile(exported(other));
        const unnumbered = ({ entries }: typeof first) =>
          entries.map(({ id: _, exchange: __, ...rest }: Record<string, unknown>) => rest);
        expect(unnumbered(again)).toEqual(unnumbered(first));
        expect(JSON.stringify(first.entries.map((entry: object) => ({ ...entry, body: '' })))).not.toMatch(
          /\p{Cc}/u,
        );
      }),
      { numRuns: 40 },
    );
  });

  it('leaves out the oldest exchanges of a long trace, so that it fits', () => {
    const log = newLog();
    for (let round = 0; round < 20; round++)
      log.add({ ...event, order: `A-${round}`, body: 'é'.repeat(500_000) });
    const { entries } = exported(log);
    expect(entries.length).toBe(16);
    expect(entries.at(-1)?.order).toBe('A-19');
    expect(Buffer.byteLength(JSON.stringify(exported(log)))).toBeLessThan(maxSessionBytes);
  });

  const good = {
    format: sessionFormat,
    source: 'sandbox',
    exportedAt: '2026-01-01T00:00:00.000Z',
    entries: [],
  };
  const entry = { id: 1, kind: 'event', time: 1, exchange: 1 };
  const withEntry = (change: object) => ({ ...good, entries: [{ ...entry, ...change }] });
  it.each([
    ['another file', { log: { version: '1.2' } }, 'not_a_session', 'not the file of an exported session'],
    [
      'a later version',
      { ...good, format: 'partner-exchange-session/2' },
      'unknown_version',
      'update this one',
    ],
    ['entries that are no list', { ...good, entries: {} }, 'invalid_session', 'entries'],
    ['an unknown member', withEntry({ html: '<b>' }), 'invalid_session', 'entries.0: has an unknown member'],
    ['a kind that is none', withEntry({ kind: 'x' }), 'invalid_session', 'entries.0.kind'],
    [
      'control characters',
      withEntry({ order: '\u001b[31mred' }),
      'invalid_session',
      'entries.0.order: must not hold control',
    ],
    [
      'a header with a line break',
      withEntry({ headers: { a: 'b\r\nc: d' } }),
      'invalid_session',
      'value of a header',
    ],
    [
      'a name that is none of a header',
      withEntry({ headers: { 'a b': 'c' } }),
      'invalid_session',
      'headers.a b',
    ],
    [
      'a header "constructor"',
      withEntry({ headers: { constructor: 'c' } }),
      'invalid_session',
      'headers.constructor',
    ],
    [
      'a prototype',
      JSON.parse(`{"__proto__":{},"format":"${sessionFormat}"}`),
      'invalid_session',
      '__proto__',
    ],
    ['an entry with a prototype', withEntry(JSON.parse('{"__proto__":{}}')), 'invalid_session', '__proto__'],
    [
      'a header __proto__',
      withEntry({ headers: JSON.parse('{"__proto__":"x"}') }),
      'invalid_session',
      '__proto__',
    ],
    ['a reply before its request', withEntry({ exchange: 7 }), 'invalid_session', 'entry 1 is out of order'],
    ['an id twice', { ...good, entries: [entry, entry] }, 'invalid_session', 'entry 1 is out of order'],
    ['50,001 entries', { ...good, entries: Array(50_001).fill(entry) }, 'invalid_session', 'entries'],
    ['50,000 bad entries', { ...good, entries: Array(50_000).fill({}) }, 'invalid_session', 'entries.0.id'],
  ])('is refused with a clear message: %s', (_, value, code, message) => {
    expect(() => readSession(value)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
    const refused = (() => {
      try {
        return String(readSession(value));
      } catch (error) {
        return String(error);
      }
    })();
    expect(refused.length).toBeLessThan(400);
    expect(refused).not.toMatch(/\p{Cc}/u);
  });
});
