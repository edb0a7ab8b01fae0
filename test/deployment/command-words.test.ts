import { describe, expect, it } from 'vitest';
import { likelyCauses } from '../../src/client/likely-causes.ts';
import { commandWords } from '../../src/deployment/command-words.ts';
import { operations } from '../../src/deployment/operations.ts';
import { describeFailure } from '../../src/devtools/cli/terminal/failure-line.ts';
import * as diagnostics from '../../src/devtools/diagnostics/index.ts';
import {
  type MismatchFindingCode,
  nextStepAfter,
} from '../../src/devtools/diagnostics/mismatch/mismatch-explanation.ts';
import { OrderError, RequestError } from '../../src/errors/errors.ts';
import { causes, inWords, libraryWords, remedies, type Text } from '../../src/errors/remedies.ts';
import * as main from '../../src/index.ts';
import * as signature from '../../src/signature/index.ts';

const functions = Object.entries({ ...main, ...diagnostics, ...signature })
  .filter(([name, value]) => typeof value === 'function' && /^[a-z]/.test(name))
  .map(([name]) => name);
const foreign = new RegExp(
  `\\b(?:${functions.join('|')})\\b|\\b(?:whitelistIp|scanDeviceUrl|receive|promote)\\(`,
);

const mismatches = ['other-construction', 'signature-in-body', 'key-for-orders', 'nothing-fits'] as const;
const texts: Readonly<Record<string, readonly Text[]>> = {
  remedies: Object.values<Readonly<Record<string, Text>>>(remedies).flatMap((own) => Object.values(own)),
  causes: Object.values(causes).map(({ advice }) => advice),
  'causes of each operation': Object.keys(operations).flatMap((operation) =>
    [400, 401, 403, 404, 429].flatMap((status) =>
      // Sound: the keys of the table are the operations.
      likelyCauses(operation as keyof typeof operations, status).map(({ advice }) => advice),
    ),
  ),
  'next steps': mismatches.map(
    (code: MismatchFindingCode): Text =>
      (say) =>
        nextStepAfter([{ code, message: '' }], say),
  ),
};

describe('the words of the command line', () => {
  it.each(Object.entries(texts))('leave no function of the library in %s', (_, own) => {
    expect(own.map((text) => inWords(text, libraryWords)).filter((text) => foreign.test(text))).not.toEqual(
      [],
    );
    expect(own.map((text) => inWords(text, commandWords)).filter((text) => foreign.test(text))).toEqual([]);
  });

  it('leave no option of defineDeployment that a variable sets', () => {
    const all = Object.values(texts).flat();
    expect(
      all.map((text) => inWords(text, commandWords)).filter((text) => /\b\w+BaseUrl\b|\bpaths\./.test(text)),
    ).toEqual([]);
  });

  it('name the command that finds the scheme before there is an event', () => {
    const [cause] = likelyCauses('createOrder', 401);
    expect(inWords(cause?.advice ?? '', commandWords)).toContain(
      'sign a probe ("partner-exchange probe --oracle"), or give a body that it signed, such as its first event, to "partner-exchange detect"',
    );
  });

  it('name variables in place of options', () => {
    expect(commandWords.settings('messengerBaseUrl', 'paths.checkNumber')).toBe(
      'PARTNER_EXCHANGE_MESSENGER_BASE_URL and PARTNER_EXCHANGE_PATH_CHECK_NUMBER',
    );
    expect(commandWords.settings('orderSchema')).toBe('orderSchema, in a program of yours');
  });

  it('are used for what a command failed with, and the library still says it in its own', () => {
    const error = new OrderError('order_refused', (say) => `Refused: try ${say.merchant}.`, {
      partner_order_id: 'A-1',
    });
    expect(describeFailure(error).message).toContain('Refused: try --merchant.');
    expect(error.message).toContain('Refused: try the merchant option.');
  });

  it('are not looked for in a text that has no words of the library', () => {
    const error = new RequestError('http_error', 'createOrder: call settle', {
      outcome: 'refused',
      operation: 'createOrder',
      method: 'POST',
      url: 'https://a.example',
    });
    expect(describeFailure(error).message).toContain('createOrder: call settle');
  });
});
