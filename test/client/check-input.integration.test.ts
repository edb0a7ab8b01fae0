import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { checkInput, checkWithSchema } from '../../src/client/check-input.ts';
import { type BuyOrder, reportedBuyOrder } from '../../src/deployment/order-schema.ts';
import type { StandardSchema } from '../../src/deployment/standard-schema.ts';
import { isValidationError, whatFailed } from '../../src/errors/errors.ts';
import { startServer } from '../support/local-server.ts';
import { rejected } from '../support/refusal.ts';
import { exchangeAt, messengerAt, order, schemaOf } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

/** What is said of an input that does not fit. */
async function complaint(schema: StandardSchema, input: unknown): Promise<string> {
  const error = await rejected(checkWithSchema('createOrder', schema, input));
  expect(error).toMatchObject({ code: 'invalid_input' });
  return isValidationError(error) ? whatFailed(error) : '';
}

describe('an order that does not fit is refused in plain words', () => {
  it.each<[change: Record<string, unknown>, said: string]>([
    [{ chain: undefined }, 'chain: is missing'],
    [{ chain: '' }, 'chain: must not be empty'],
    [{ buyer_email: null }, 'buyer_email: must be text'],
    [{ partner_callback_url: 'here' }, 'partner_callback_url: must be an http or https URL'],
    [{ fiat_amount: '1,000' }, 'fiat_amount: must be a positive decimal string such as "15000.50"'],
    [
      { fiat_amount: 15000.5 },
      'fiat_amount: must be text, since a number loses digits: give it as text: "15000.50"',
    ],
    [{ markup_fee: 1.5 }, 'markup_fee: must be text, since a number loses digits: give it as text: "1.5"'],
    [{ fiat_amount: '1'.repeat(41) }, 'fiat_amount: must have at most 40 characters'],
  ])('%o', async (change, said) => {
    expect(await complaint(reportedBuyOrder, { ...order, ...change })).toBe(`createOrder: ${said}`);
  });

  it('by the client, before anything is sent', async () => {
    const server = await startServer({});
    // What a JavaScript caller may pass.
    const input = { ...order, fiat_amount: 15000.5 } as unknown as BuyOrder;
    const error = await rejected(exchangeAt(server.url).createOrder(input));
    expect(String(error)).toContain('give it as text: "15000.50"');
    expect(server.requests).toHaveLength(0);
  });
});

it('an input of the messenger is refused in plain words', async () => {
  const client = messengerAt('http://127.0.0.1:9');
  // What a JavaScript caller may pass.
  const call = client.sendMessage({ to_phone: '2348012345678', message: '', verify_check: 'yes' as never });
  expect(String(await rejected(call))).toBe(
    'ValidationError: sendMessage: message: must not be empty; verify_check: must be true or false. See partner-exchange-sdk/docs/errors.md#invalid_input.',
  );
});

describe("what a user's own schema finds is said by its place and its code alone", () => {
  const secret = z.string().refine(() => false, { error: ({ input }) => `is no city: ${input}` });

  it.each<[schema: StandardSchema, said: string]>([
    [z.object({ member: z.enum(['a', 'b']) }), 'member: does not fit (invalid_value)'],
    [z.object({ member: z.object({ name: z.string() }) }), 'member: does not fit (invalid_type)'],
    [z.object({ member: z.string().min(30) }), 'member: does not fit (too_small)'],
    [z.object({ member: secret }), 'member: does not fit (custom)'],
    [z.object({ member: z.string() }).refine(() => false, 'is wrong'), 'does not fit (custom)'],
    [z.strictObject({}), 'does not fit (unrecognized_keys)'],
    [schemaOf(() => ({ issues: [{ message: 'was "s3cret"', path: ['member'] }] })), 'member: does not fit'],
    [
      schemaOf(() => ({ issues: [Object.assign({ message: 'was "s3cret"' }, { code: 'was "s3cret"' })] })),
      'does not fit',
    ],
  ])('%#', async (schema, said) => {
    expect(await complaint(schema, { member: 's3cret' })).toBe(`createOrder: ${said}`);
  });

  it('at any depth', async () => {
    const schema = z.object({ buyers: z.array(z.object({ name: z.string() })) });
    expect(await complaint(schema, { buyers: [{ name: 'Ada' }, {}] })).toBe(
      'createOrder: buyers.1.name: does not fit (invalid_type)',
    );
  });

  it('also where it extends ours', async () => {
    const schema = reportedBuyOrder.extend({ memo: secret });
    expect(await complaint(schema, { ...order, memo: 's3cret', fiat_currency: 'ngn' })).toBe(
      'createOrder: fiat_currency: does not fit (invalid_format); memo: does not fit (custom)',
    );
    expect(await complaint(schema, undefined)).toBe('createOrder: does not fit (invalid_type)');
    expect(await complaint(reportedBuyOrder, undefined)).toBe('createOrder: must be an object');
  });

  it('whatever language a program has set for zod', async () => {
    z.config(z.locales.de());
    try {
      expect(await complaint(reportedBuyOrder, { ...order, chain: 7 })).toBe(
        'createOrder: chain: must be text',
      );
    } finally {
      z.config(z.locales.en());
    }
  });
});

it('an input that JSON would change is refused by its place', () => {
  expect(() => checkInput('onboard', z.looseObject({}), { at: new Date(0) })).toThrow(/^onboard: at: /);
});
