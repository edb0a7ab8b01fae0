import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ReceivedReply, usualOrderReply } from '../../src/deployment/order-reply.ts';
import { shapeOfReply } from '../../src/deployment/reply-shape.ts';
import { times } from '../support/repeat.ts';

const signalNames = 'success OK is_success status error Errors code statusCode response-code'.split(' ');
const signals = [
  ...[true, false, 0, 1, 200, 404, 599, 600, 4001, 0.5, -1, null, '', 'false', ' Failed '],
  ...['error: none', '0', '00', '200', '422', '99', '40x', [], [1], {}, { a: 1 }, 'success'],
];
const body = fc.object({
  maxDepth: 3,
  key: fc.oneof(fc.constantFrom(...signalNames), fc.string()),
  values: [fc.constantFrom(...signals), fc.string(), fc.double(), fc.boolean()],
});
const reply = (given: unknown): ReceivedReply => ({ status: 200, headers: new Headers(), body: given });

describe('the shape of a reply', () => {
  it('is accepted if the reply is', () => {
    fc.assert(
      fc.property(body, (given) => {
        expect(usualOrderReply(reply(shapeOfReply(given)))).toBe(usualOrderReply(reply(given)));
      }),
      { numRuns: times(300, 2_000) },
    );
  });

  it('is that of its shape', () => {
    fc.assert(
      fc.property(fc.oneof(body, fc.jsonValue(), fc.string()), (given) => {
        const shape = shapeOfReply(given);
        expect(shapeOfReply(shape)).toEqual(shape);
      }),
    );
  });

  it('holds names, types and signals, and no value', () => {
    const given = {
      status: 'accepted',
      message: 'Thank you, Ada',
      data: { platform_order_ref: 'P-9-77', amount: 15000.5, paid: false, link: null, note: '' },
      list: [{ email: 'ada@example.com' }, 7],
      '2348012345678': 'x',
      sk_partner_9c2e71aa: 'x',
      code: 123_456,
    };
    expect(shapeOfReply(given)).toEqual({
      status: 'accepted',
      message: 'text',
      data: { platform_order_ref: 'text', amount: 0, paid: false, link: null, note: '' },
      list: [{ email: 'text' }],
      '…1': 'text',
      '…2': 'text',
      code: 9999,
    });
  });

  it('of a text tells two texts apart without showing them', () => {
    expect(shapeOfReply('OK')).toMatch(/^text:[0-9a-f]{16}$/);
    expect(shapeOfReply('OK')).not.toBe(shapeOfReply('ok'));
    expect(shapeOfReply(undefined)).toBeUndefined();
  });
});
