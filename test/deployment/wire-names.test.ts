import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DeploymentOptions, defineDeployment } from '../../src/deployment/define-deployment.ts';
import { fromWireNames, toWireNames, type WireNames } from '../../src/deployment/wire-names.ts';
import { isConfigurationError, ValidationError } from '../../src/errors/errors.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import { thrownBy } from '../support/refusal.ts';
import { bases } from './bases.ts';

const names: WireNames = {
  platform_order_ref: 'acme_order_ref',
  platform_merchant_id: 'acme_merchant',
  messenger_device_no: 'acme_no',
  'connect-msg': 'connect-acme',
};

function complaint(wireNames: unknown): string {
  const error = thrownBy(() => defineDeployment({ ...bases, wireNames } as DeploymentOptions));
  expect(isConfigurationError(error) && error.code).toBe('invalid_deployment');
  return isConfigurationError(error) ? error.message : '';
}

describe('a body that goes out', () => {
  it("has the deployment's own names, in the same order", () => {
    const sent = toWireNames(
      { a: 1, platform_merchant_id: 'M', platform_order_ref: 'R', messenger_device_no: '1' },
      names,
    );
    expect(JSON.stringify(sent)).toBe('{"a":1,"acme_merchant":"M","acme_order_ref":"R","acme_no":"1"}');
  });

  it('is refused with both names, by the name', () => {
    const error = thrownBy(() => toWireNames({ platform_merchant_id: 'M', acme_merchant: 'N' }, names));
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ issues: [{ path: ['acme_merchant'] }] });
  });
});

describe('a body that comes in', () => {
  it('has the published names, in the same order', () => {
    const read = fromWireNames({ acme_order_ref: 'R', a: 1, acme_no: '1' }, names);
    expect(JSON.stringify(read)).toBe('{"platform_order_ref":"R","a":1,"messenger_device_no":"1"}');
  });

  it('keeps both members when it has both names', () => {
    const body = { acme_order_ref: 'own', platform_order_ref: 'published' };
    expect(fromWireNames(body, names)).toEqual(body);
  });

  it('goes out again as it came, unless it had both names', () => {
    const name = fc.constantFrom(...Object.values(names), 'a', 'signature', '__proto__', 'constructor');
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue()), (body) => {
        // Sound: the arbitraries make JSON values only.
        const received = body as JsonObject;
        expect(JSON.stringify(toWireNames(fromWireNames(received, names), names))).toBe(
          JSON.stringify(received),
        );
      }),
      { seed: 42, numRuns: 500 },
    );
  });
});

describe.each([
  ['out', toWireNames],
  ['in', fromWireNames],
])('a body on its way %s', (_, translate) => {
  it('keeps members named __proto__', () => {
    const text = '{"__proto__":{"polluted":true},"a":1}';
    expect(JSON.stringify(translate(JSON.parse(text), names))).toBe(text);
  });

  it('keeps nested members as they are', () => {
    const body = { inner: { platform_order_ref: 'R', acme_no: '1' } };
    expect(translate(body, names)).toEqual(body);
  });

  it('is not touched where names are published ones', () => {
    const body = { platform_order_ref: 'R', acme_order_ref: 'S' };
    expect(translate(body, {})).toEqual(body);
    expect(translate(body, { platform_order_ref: 'platform_order_ref' })).toEqual(body);
    expect(translate({ 'connect-msg': 1 }, names)).toEqual({ 'connect-msg': 1 });
  });
});

describe('wire names', () => {
  it.each<[string, object, string]>([
    ['that are not branded', { partner_order_id: 'x' }, '"partner_order_id" is not an option of wireNames'],
    ['with a slash', { 'connect-msg': '../x' }, 'wireNames.connect-msg'],
    ['of 65 characters', { platform_order_ref: 'x'.repeat(65) }, 'wireNames.platform_order_ref'],
    ['ended by a line break', { platform_order_ref: 'x\n' }, 'wireNames.platform_order_ref'],
    ['named signature', { platform_order_ref: 'signature' }, '"signature"'],
    ['named __proto__', { platform_order_ref: '__proto__' }, '"__proto__"'],
    ['given twice', { platform_order_ref: 'acme', platform_merchant_id: 'acme' }, '"acme"'],
    [
      'swapped with each other',
      { platform_order_ref: 'platform_merchant_id', platform_merchant_id: 'platform_order_ref' },
      'already names',
    ],
  ])('are refused %s', (_, wireNames, part) => {
    expect(complaint(wireNames)).toContain(part);
  });
});
