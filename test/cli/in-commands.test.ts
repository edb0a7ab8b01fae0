import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inCommands } from '../../src/cli/output/in-commands.ts';
import * as diagnostics from '../../src/diagnostics/index.ts';
import * as main from '../../src/index.ts';
import * as signature from '../../src/signature/index.ts';

const source = join(import.meta.dirname, '..', '..', 'src');
const functions = Object.entries({ ...main, ...diagnostics, ...signature })
  .filter(([name, value]) => typeof value === 'function' && /^[a-z]/.test(name))
  .map(([name]) => name);
const foreign = new RegExp(
  `\\b(?:${functions.join('|')})\\b|\\b(?:whitelistIp|scanDeviceUrl|receive)\\(|\\b(?:call settle|observe)\\b`,
);

/** The texts in a file that a user may be shown. */
function sentencesOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8');
  return [...text.matchAll(/'([^'\n]* [^'\n]* [^'\n]*)'|`([^`\n]* [^`\n]* [^`\n]*)`/g)].map(
    ([, quoted, template]) => quoted ?? template ?? '',
  );
}

describe('what the library says to a programmer', () => {
  it.each([
    'http/likely-causes.ts',
    'diagnostics/mismatch/next-step.ts',
    'diagnostics/detection/detect-scheme.ts',
    'diagnostics/doctor/checks/scheme-pin.ts',
    'diagnostics/attack/cases/baseline.ts',
    'orders/order-record.ts',
    'rotation/rotation-steps.ts',
  ])('of %s names commands on the command line, and no function', (file) => {
    const sentences = sentencesOf(file);
    expect(sentences.filter((sentence) => foreign.test(sentence))).not.toEqual([]);
    expect(sentences.map(inCommands).filter((sentence) => foreign.test(sentence))).toEqual([]);
  });

  it('asks for nothing that only a program can give', () => {
    expect(
      inCommands('your own code knows: give `handled`, which tells how often it acted on an order'),
    ).toBe('your own code knows: look into its records of the orders');
  });

  it('names variables in place of options', () => {
    expect(inCommands('check messengerBaseUrl and paths.checkNumber of defineDeployment')).toBe(
      'check PARTNER_EXCHANGE_MESSENGER_BASE_URL and PARTNER_EXCHANGE_PATH_CHECK_NUMBER',
    );
  });
});
