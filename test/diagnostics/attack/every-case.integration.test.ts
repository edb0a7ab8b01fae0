import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AttackResult } from '../../../src/diagnostics/attack/attack-case.ts';
import { attackReceiver } from '../../../src/diagnostics/attack/attack-receiver.ts';
import { attackCases } from '../../../src/diagnostics/attack/case-table.ts';
import { verifyBody } from '../../../src/signature/verify-body.ts';
import { orderKey } from '../../support/bodies.ts';
import { listening } from '../../support/listening.ts';
import { credentials } from '../../webhooks/deliveries.ts';
import { brokenReceivers, startReceiver } from './broken-receivers.ts';

/** The cases that some receiver has failed: here, or in the tests of `brokenReceivers`. */
const failed = new Set<string>(brokenReceivers.flatMap(({ finds }) => Object.keys(finds ?? {})));
const all: readonly string[] = attackCases.map(({ id }) => id);
/** A receiver may accept these. */
const mayBeAccepted = [
  'signature-escaped-name',
  'repeated',
  'repeated-at-once',
  'replayed',
  'method-options',
];

describe('every case of the attack can fail:', () => {
  it('a receiver that accepts everything fails all that must be refused', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        // The rest is read, so that the sender gets to see the answer.
        socket.resume();
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      });
    });
    const results = await attack(await listen(server));
    const passed = results.filter(({ verdict }) => verdict === 'ok').map(({ id }) => id);
    const expected = all.filter(
      (id) =>
        /^authentic|^discloses|^echoes|^shows|^timing|^in-pieces|^aborted/.test(id) ||
        mayBeAccepted.includes(id),
    );
    expect(passed.filter((id) => !['authentic', ...expected].includes(id))).toEqual([]);
    const forgeries = results.filter(({ id }) => /^(?:un|forged|altered|signatures?-|key)/.test(id));
    for (const { id, verdict } of forgeries.filter(({ id }) => !mayBeAccepted.includes(id))) {
      const isHarmless = /white-space|respelled|trailing|in-array/.test(id);
      expect([id, verdict]).toEqual([id, isHarmless ? 'weak' : 'broken']);
    }
  });

  it('a receiver that accepts nothing but the plainest delivery loses all others that are authentic', async () => {
    let accepted = 0;
    await using receiver = await startReceiver({
      verify(text) {
        const { value } = verifyBody(text, { key: orderKey });
        if (accepted++ > 0) throw new Error('not another one');
        return value;
      },
    });
    const results = await attack(receiver.url);
    const ids = results.filter(({ verdict }) => verdict === 'broken').map(({ id }) => id);
    expect(ids).toEqual([
      ...all.filter((id) => id.startsWith('authentic')),
      'repeated',
      'repeated-at-once',
      'forged-first',
      'in-pieces',
      'aborted',
    ]);
    expect(results.find(({ id }) => id === 'replayed')).toMatchObject({ verdict: 'weak' });
  });

  it('a receiver that fails at everything odd fails', async () => {
    const server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        try {
          verifyBody(text, { key: orderKey });
          response.writeHead(text.includes('u0073') ? 500 : 200).end();
        } catch {
          response.writeHead(500).end();
        }
      });
    });
    const results = await attack(await listen(server));
    const passed = results.filter(({ verdict }) => verdict === 'ok').map(({ id }) => id);
    const transport = all.filter((id) => /^length/.test(id));
    const asked = all.filter((id) =>
      /^(?:discloses|echoes|shows|tells|timing|repea|replay|in-pieces|aborted)/.test(id),
    );
    expect(passed.filter((id) => !/^authentic/.test(id) && ![...transport, ...asked].includes(id))).toEqual(
      [],
    );
  });

  it('an answer to OPTIONS that allows every site is weak', async () => {
    const server = createServer((request, response) => {
      request.resume();
      response.setHeader('access-control-allow-origin', '*');
      response.writeHead(request.method === 'OPTIONS' || request.method === 'POST' ? 200 : 405).end();
    });
    const results = await attack(await listen(server), ['method-options', 'method-get']);
    expect(results.map(({ verdict }) => verdict)).toEqual(['ok', 'ok', 'weak']);
  });

  it('an answer before the body is whole is broken', async () => {
    const server = createServer((request, response) => {
      response.writeHead(200).end();
      request.resume();
    });
    const only = ['slow-body', 'length-too-long'];
    const results = await attack(await listen(server), only);
    expect(results.slice(1).map(({ verdict }) => verdict)).toEqual(['broken', 'broken']);
  });

  it('none is left that no receiver has failed', () => {
    expect(all.filter((id) => !failed.has(id))).toEqual([]);
  });
});

async function attack(url: string, only?: string[]): Promise<readonly AttackResult[]> {
  const { results } = await attackReceiver(url, {
    credentials,
    timeoutMs: 1000,
    skip: ['timing'],
    ...(only && { only }),
  });
  for (const { id, verdict } of results) if (verdict === 'weak' || verdict === 'broken') failed.add(id);
  return results;
}

async function listen(server: TcpServer | Server): Promise<string> {
  onTestFinished(() => void server.close());
  return `${await listening(server)}/`;
}
