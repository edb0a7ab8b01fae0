import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { readSavedRequest } from '../../src/devtools/cli/deliveries/saved-deliveries.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { allFixtures } from './fixtures.ts';
import { eventOf, writtenAt } from './subjects.ts';

for (const { release, folder, json } of allFixtures) {
  it(`deliveries that listen has saved have the bytes and the headers that came, written by ${release}`, () => {
    const saved = join(folder, 'saved');
    const found = readdirSync(saved).map((name) => readSavedRequest(readFileSync(join(saved, name)), name));
    const bodies = [Buffer.from([0xff, 0x00, 0x7b]), Buffer.from(eventOf('saved-done'))];
    expect(found).toEqual(
      bodies.map((body) => ({
        receivedAt: new Date(writtenAt).toISOString(),
        target: '/events?shop=7',
        headers: [
          ['Content-Type', 'application/json'],
          ['X-Twice', 'one'],
          ['X-Twice', 'two'],
        ],
        body,
      })),
    );
  });

  it(`the deployment file of ${release} is read`, () => {
    expect(defineDeployment({ learnt: json('deployment.json') }).signature).toEqual(defaultScheme);
  });
}
