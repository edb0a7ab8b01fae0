import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { readSavedRequest } from '../../src/devtools/cli/deliveries/saved-deliveries.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { partnerExchange } from '../devtools/cli/run-in-process.ts';
import { startServer } from '../support/local-server.ts';
import { allFixtures } from './fixtures.ts';
import { eventOf, writtenAt } from './subjects.ts';

const savedBodies = {
  pending: Buffer.from(eventOf('saved-pending')),
  refused: Buffer.from(eventOf('saved-refused')),
  done: Buffer.from(eventOf('saved-done')),
  unsigned: Buffer.from([0xff, 0x00, 0x7b]),
};

/** The ending of a name says the state of its delivery; of `done` it is `.json` alone. */
function bodyOf(name: string): Buffer {
  const [, state] = /\.(pending|refused|unsigned)\.json$/.exec(name) ?? [];
  return Object.entries(savedBodies).find(([each]) => each === (state ?? 'done'))?.[1] ?? Buffer.alloc(0);
}

for (const { release, folder, json } of allFixtures) {
  describe(`deliveries that listen has saved, written by ${release}`, () => {
    const saved = join(folder, 'saved');

    it('have the bytes and the headers that came', () => {
      for (const name of readdirSync(saved)) {
        expect(readSavedRequest(readFileSync(join(saved, name)), name)).toEqual({
          receivedAt: new Date(writtenAt).toISOString(),
          target: '/events?shop=7',
          headers: [
            ['Content-Type', 'application/json'],
            ['X-Twice', 'one'],
            ['X-Twice', 'two'],
          ],
          body: bodyOf(name),
        });
      }
    });

    it('are posted again by replay', async () => {
      const target = await startServer({ status: 200 });
      const { code } = await partnerExchange(['replay', saved, '--to', target.url], { fetch });
      expect(code).toBe(0);
      const bodies = target.requests.map(({ body }) => body.toString());
      expect(bodies).toHaveLength(readdirSync(saved).length);
      expect(bodies).toContain(eventOf('saved-done'));
    });
  });

  it(`the deployment file of ${release} is read`, () => {
    expect(defineDeployment({ learnt: json('deployment.json') }).signature).toEqual(defaultScheme);
  });
}
