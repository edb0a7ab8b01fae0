import { describe, expect, it } from 'vitest';
import { type DeploymentOptions, defineDeployment } from '../../src/deployment/define-deployment.ts';
import { deploymentFileFormat, type LearntDeployment } from '../../src/deployment/learnt-deployment.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { refusal } from '../support/refusal.ts';

const fileOf = (...sets: LearntDeployment[]) => ({
  format: deploymentFileFormat,
  overrides: sets.map((set) => ({ row: 'order-reply', set, samples: 3, digest: 'ab' })),
  rows: [],
});

describe('a deployment file', () => {
  it('sets each of its options', () => {
    const deployment = defineDeployment({
      learnt: fileOf(
        { signature: { ...defaultScheme, encoding: 'base64' } },
        { wireNames: { platform_order_ref: 'acme_order_ref' } },
        { orderStatuses: { 400: 'unknown' } },
        { orderStatuses: { 429: 'unknown' } },
        { readOrderReply: { accepted: [{ status: 202, body: 'empty' }] } },
        { readOrderReply: { accepted: [{ status: 200, body: 'list' }] } },
        { duplicateIds: { refused: [422] } },
      ),
    });
    expect(deployment).toMatchObject({
      signature: { encoding: 'base64' },
      wireNames: { platform_order_ref: 'acme_order_ref' },
      orderStatuses: { 400: 'unknown', 409: 'unknown', 423: 'unknown', 429: 'unknown' },
      duplicateIds: { refused: [422] },
    });
    const read = (status: number, body: unknown) =>
      deployment.readOrderReply({ status, headers: new Headers(), body });
    expect(read(202, undefined)).toBe('accepted');
    expect(read(200, [{ ref: 'P-1' }])).toBe('accepted');
    expect(read(202, [{ ref: 'P-1' }])).toBe('unknown');
    expect(read(200, [{ status: 'error' }])).toBe('unknown');
  });

  it('comes after what is given beside it', () => {
    const learnt = fileOf({
      signature: { ...defaultScheme, encoding: 'base64' },
      wireNames: { platform_order_ref: 'acme_order_ref', platform_merchant_id: 'acme_merchant' },
      orderStatuses: { 400: 'unknown', 422: 'unknown' },
    });
    expect(
      defineDeployment({
        learnt,
        signature: defaultScheme,
        wireNames: { platform_merchant_id: 'own' },
        orderStatuses: { 422: 'refused' },
      }),
    ).toMatchObject({
      orderStatuses: { 400: 'unknown', 422: 'refused' },
      signature: defaultScheme,
      wireNames: { platform_order_ref: 'acme_order_ref', platform_merchant_id: 'own' },
    });
  });

  it.each<[string, object]>([
    ['other JSON', { scheme: defaultScheme }],
    ['half a file', { format: deploymentFileFormat }],
    ['contradiction', fileOf({ duplicateIds: 'same-order' }, { duplicateIds: 'unknown' })],
    ['wrong value', fileOf({ orderStatuses: { 200: 'unknown' } })],
    ['wrong reply', fileOf({ readOrderReply: { accepted: [{ status: 404, body: 'empty' }] } })],
    ['text in place of its digest', fileOf({ readOrderReply: { accepted: [{ status: 200, body: 'OK' }] } })],
  ])('is refused if it is %s', (_, learnt) => {
    expect(refusal(() => defineDeployment({ learnt }))).toBe('ConfigurationError invalid_deployment');
  });

  it.each<[string, unknown]>([
    ['onboardingBaseUrl', 'http://elsewhere.example'],
    ['allowInsecureHttp', true],
    ['addressForms', false],
    ['headers', { 'x-a': '1' }],
    ['learnt', {}],
    ['__proto__', { allowInsecureHttp: true }],
  ])('cannot set %s: it is named, with where to set it', (option, value) => {
    const learnt = fileOf(JSON.parse(`{${JSON.stringify(option)}:${JSON.stringify(value)}}`));
    expect(() => defineDeployment({ learnt })).toThrow(
      new RegExp(`learnt sets "${option}", and a deployment file sets only signature.*in code`),
    );
    expect(refusal(() => defineDeployment({ learnt }))).toBe('ConfigurationError invalid_deployment');
  });

  const deep = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000));

  it.each<[string, object]>([
    ['an option', fileOf({ signature: deep }, { signature: [deep] as never })],
    ['a row', { ...fileOf(), rows: [{ id: 'replies', verdict: 'proven', found: deep }] }],
  ])('is refused if %s is nested 20,000 levels deep', (_, learnt) => {
    expect(refusal(() => defineDeployment({ learnt }))).toBe('ConfigurationError invalid_deployment');
  });

  it('of a newer form says that the package has to be updated', () => {
    const learnt = { ...fileOf(), format: 'partner-exchange-deployment/2' };
    expect(() => defineDeployment({ learnt })).toThrow(/reads partner-exchange-deployment\/1\..*Update/);
  });
});

describe('readOrderReply as data', () => {
  // What a JavaScript caller may pass.
  it.each([7, {}, { accepted: [{}] }, { accepted: [], refused: [] }])('refuses %j', (rules) => {
    const options = { readOrderReply: rules } as unknown as DeploymentOptions;
    expect(refusal(() => defineDeployment(options))).toBe('ConfigurationError invalid_deployment');
  });
});
