import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { learn } from '../../src/devtools/diagnostics/learn/learn-from-samples.ts';
import { explainMismatch } from '../../src/devtools/diagnostics/mismatch/explain-mismatch.ts';
import { isSignatureError, type SignatureErrorCode } from '../../src/errors/errors.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import type { RefusedBody } from '../../src/webhooks/receive-outcome.ts';
import { buyInitBody, hmacHex, signedText } from '../support/bodies.ts';
import { credentials, quietWebhooks, unsignedText } from './deliveries.ts';
import { describeTransports } from './http/transports.ts';
import { warningsDuring } from './warnings.ts';

const text = unsignedText(buyInitBody());
const sent = signedText(text);
const base64 = Buffer.from(hmacHex(text), 'hex').toString('base64');

/** A body that is refused with each code. */
const refused: Record<SignatureErrorCode, string | Uint8Array> = {
  signature_mismatch: signedText(text, hmacHex(text, 'sk_other')),
  signature_malformed: signedText(text, base64),
  signature_missing: text,
  signature_duplicated: signedText(sent),
  body_not_json: sent.slice(0, -1),
  body_not_object: `[${sent}]`,
  body_not_utf8: Uint8Array.of(0xff),
  body_ambiguous: signedText('{"fiat_amount_to_pay":-0}'),
  body_too_deep: `{"signature":"${hmacHex('')}","deep":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
};
/** Under this a body can be too deep, or ambiguous. */
const sorting = { signature: { ...defaultScheme, serialization: 'sorted' as const }, wireNames: {} };
const cases = Object.entries(refused).map(([code, body]) => ({
  code,
  body,
  options: ['body_too_deep', 'body_ambiguous'].includes(code) ? { deployment: sorting } : {},
}));

describeTransports('the operator', (post) => {
  it.each(cases)('is warned of $code once, however many come', async ({ code, body, options }) => {
    const webhooks = quietWebhooks(options);
    const warnings = await warningsDuring(async () => {
      for (let time = 0; time < 5; time++) await post(webhooks, { body });
    });
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining(`#${code}.`)]);
  });

  it('is warned of requests that are refused without a look at their signature, and told what to set', async () => {
    const webhooks = quietWebhooks({ maxBodyBytes: 100 });
    const warnings = await warningsDuring(async () => {
      for (let time = 0; time < 3; time++) {
        await post(webhooks, { method: 'GET' });
        await post(webhooks, { body: sent });
      }
    });
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/refused.*method_not_allowed\. Give health checks/),
      expect.stringMatching(/Raise maxBodyBytes.*#body_too_large/),
    ]);
  });
});

describe('the warning of a wrong scheme', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'errors.md'), 'utf8');

  it.each(['signature_mismatch', 'signature_malformed', 'signature_missing'] as const)(
    'of %s says in at most 60 words what to run, and where the calls are written out',
    async (code) => {
      const [{ message } = { message: '' }] = await warningsDuring(() =>
        quietWebhooks().receive(refused[code]),
      );
      const named = ['explainMismatch', 'learn', 'partner-exchange-sdk/diagnostics', 'onRefused'];
      for (const name of named) expect(message).toContain(name);
      expect(message).toContain(`docs/errors.md#${code}`);
      expect(message.split(' ').length).toBeLessThanOrEqual(60);
      expect(page).toContain(`\n### ${code}\n`);
    },
  );

  it.each(['body_not_utf8', 'body_not_json'] as const)('is not given for %s', async (code) => {
    const [{ message } = { message: '' }] = await warningsDuring(() =>
      quietWebhooks().receive(refused[code]),
    );
    expect(message).toMatch(new RegExp(`proxy undo a content-encoding.*#${code}\\.$`));
  });

  it('leads to the scheme: what onRefused captures is what the diagnostics take', async () => {
    const captured: RefusedBody[] = [];
    const webhooks = quietWebhooks({ onRefused: (one) => captured.push(one) });
    await webhooks.receive(signedText(text, base64));
    const [{ rawBody } = { rawBody: '' }] = captured;
    const { deployment } = await learn({ deliveries: [{ body: rawBody }], credentials });
    expect(deployment.signature?.encoding).toBe('base64');
    expect(explainMismatch(rawBody, { credentials }).findings.map(({ id }) => id)).toContain(
      'other-encoding',
    );
  });
});

describeTransports('onRefused', (post) => {
  it.each(cases)(
    'gets the body as received, and why it was refused: $code',
    async ({ code, body, options }) => {
      const seen: RefusedBody[] = [];
      const webhooks = quietWebhooks({ ...options, onRefused: (one) => seen.push(one) });
      await warningsDuring(() => post(webhooks, { body }));
      expect(seen).toHaveLength(1);
      expect(Buffer.from(seen[0]?.rawBody ?? '')).toEqual(Buffer.from(body));
      expect(isSignatureError(seen[0]?.error) && seen[0]?.error.code).toBe(code);
    },
  );

  it('gets neither what is authentic nor what is refused unread', async () => {
    const webhooks = quietWebhooks({ maxBodyBytes: 2_000, onRefused: () => expect.unreachable('called') });
    expect((await post(webhooks, { body: sent })).status).toBe(200);
    expect((await post(webhooks, { body: sent })).status).toBe(200);
    expect((await post(webhooks, { body: 'x'.repeat(2_001) })).status).toBe(413);
    expect((await post(webhooks, { method: 'PUT', body: 'x' })).status).toBe(405);
  });
});
