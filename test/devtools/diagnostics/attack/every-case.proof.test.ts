import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AttackResult } from '../../../../src/devtools/diagnostics/attack/attack-case.ts';
import { attackReceiver } from '../../../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { attackCases } from '../../../../src/devtools/diagnostics/attack/case-table.ts';
import { handlingCases } from '../../../../src/devtools/diagnostics/attack/cases/handled-once.ts';
import { repetitionCases } from '../../../../src/devtools/diagnostics/attack/cases/repetition.ts';
import { sequenceCases } from '../../../../src/devtools/diagnostics/attack/cases/sequences.ts';
import { verifyBody } from '../../../../src/signature/verify-body.ts';
import { orderKey } from '../../../support/bodies.ts';
import { listening } from '../../../support/listening.ts';
import { credentials } from '../../../webhooks/deliveries.ts';
import { brokenReceivers, startReceiver } from './broken-receivers.ts';
import { pythonReceivers } from './python-receivers.ts';

// Hundreds of deliveries each: a busy machine takes many times as long.
vi.setConfig({ testTimeout: 180_000 });

/** The cases that some receiver has failed: here, or in the tests of the broken ones in TypeScript and in Python. */
const failed = new Set<string>([
  ...brokenReceivers.flatMap(({ finds }) => Object.keys(finds)),
  ...Object.values(pythonReceivers).flat(),
]);
const all: readonly string[] = attackCases.map(({ id }) => id);
/** Authentic events in an order of their own, which the answers alone cannot fail. */
const sequences = Object.keys({ ...sequenceCases, ...repetitionCases, ...handlingCases });
/** A receiver may accept these. */
const mayBeAccepted = ['repeated', 'repeated-at-once', 'replayed'];

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
      (id) => /^authentic|^order-id|^discloses/.test(id) || [...sequences, ...mayBeAccepted].includes(id),
    );
    expect(passed.filter((id) => !['authentic', ...expected].includes(id))).toEqual([]);
    const forgeries = results.filter(({ id }) => /^(?:un|forged|altered|signatures?-|key)/.test(id));
    for (const { id, verdict } of forgeries.filter(({ id }) => !mayBeAccepted.includes(id))) {
      const isHarmless = /white-space|respelled/.test(id);
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
      ...Object.keys(sequenceCases),
      'forged-among-genuine',
      'repeated',
      'respelled',
      'repeated-at-once',
      'forged-first',
      'forged-often',
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
          response.writeHead(200).end();
        } catch {
          response.writeHead(500).end();
        }
      });
    });
    const results = await attack(await listen(server));
    const passed = results.filter(({ verdict }) => verdict === 'ok').map(({ id }) => id);
    const asked = all.filter((id) => /^(?:discloses|repea|replay|order-id)/.test(id));
    // In these it counts what is accepted: other cases send the same forgeries and judge the failure.
    const inContext = ['forged-among-genuine'];
    const allowed = [...asked, ...sequences, ...mayBeAccepted, ...inContext];
    expect(passed.filter((id) => !/^authentic/.test(id) && !allowed.includes(id))).toEqual([]);
  });

  it('none is left that no receiver has failed', () => {
    expect(all.filter((id) => !failed.has(id))).toEqual([]);
  });
});

async function attack(url: string): Promise<readonly AttackResult[]> {
  const { results } = await attackReceiver(url, { credentials, timeoutMs: 1000 });
  for (const { id, verdict } of results) if (verdict === 'weak' || verdict === 'broken') failed.add(id);
  return results;
}

async function listen(server: TcpServer | Server): Promise<string> {
  onTestFinished(() => void server.close());
  return `${await listening(server)}/`;
}
