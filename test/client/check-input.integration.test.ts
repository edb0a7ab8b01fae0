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
    [{ partner_callback_url: undefined }, 'partner_callback_url: is missing'],
    [{ chain: '' }, 'chain: must not be empty'],
    [{ chain: 7 }, 'chain: must be text'],
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

describe('what another library says of a value does not repeat it', () => {
  const refusing = (message: string, path: PropertyKey[]): StandardSchema =>
    schemaOf(() => ({ issues: [{ message, path }] }));

  it.each<[said: string, path: PropertyKey[], shown: string]>([
    // In the words of valibot.
    [
      'Invalid email: Received "ada@buyer"',
      ['buyer_email'],
      'buyer_email: Invalid email: Received [redacted]',
    ],
    [
      'Invalid type: Expected string but received 2348012345678',
      ['buyer_phone'],
      'buyer_phone: Invalid type: Expected string but received [redacted]',
    ],
    // In the words of arktype.
    [
      'must be at least length 2 (was "A")',
      ['first_name'],
      'first_name: must be at least length 2 (was [redacted])',
    ],
    [
      'must be an order (was {"note":"a \\"b\\""})',
      ['more'],
      'more: must be an order (was {"note":[redacted]})',
    ],
    ['has no account ada@buyer.', [], 'has no account [redacted].'],
  ])('%s', async (said, path, shown) => {
    const input = {
      buyer_email: 'ada@buyer',
      buyer_phone: 2348012345678,
      first_name: 'A',
      more: { note: 'a "b"' },
    };
    expect(await complaint(refusing(said, path), input)).toBe(`createOrder: ${shown}`);
  });
});

describe("what a user's own zod schema says", () => {
  it.each<[schema: z.ZodType, said: string]>([
    [z.enum(['a', 'b']), 'must be one of "a", "b"'],
    [z.literal(3), 'must be 3'],
    [z.number(), 'must be a number'],
    [z.array(z.string()), 'must be a list'],
    [z.object({}), 'must be an object'],
    [z.email(), 'must be an e-mail address'],
    [z.iso.datetime(), 'must be an ISO 8601 date and time'],
    [z.string().startsWith('NG'), 'must begin with "NG"'],
    [z.string().regex(/^q/), 'has the wrong form'],
    [z.string().min(30), 'must have at least 30 characters'],
    [z.string().refine(() => false), 'does not fit'],
    [z.string().refine(() => false, 'is no city'), 'is no city'],
    [z.string().regex(/^q/, 'must begin with q'), 'must begin with q'],
    [z.union([z.number(), z.null()]), 'has none of the forms that are allowed'],
  ])('is put into plain words, unless they are his own: %#', async (member, said) => {
    expect(await complaint(z.object({ member }), { member: 'text' })).toBe(`createOrder: member: ${said}`);
    expect(await complaint(z.object({ member }), {})).toContain('createOrder: member: ');
  });

  it('names what is missing at any depth', async () => {
    const schema = z.object({ buyers: z.array(z.object({ name: z.string() })) });
    expect(await complaint(schema, { buyers: [{ name: 'Ada' }, {}] })).toBe(
      'createOrder: buyers.1.name: is missing',
    );
  });

  it('names members that are not known', async () => {
    expect(await complaint(z.strictObject({}), { a: 1, b: 2 })).toBe(
      'createOrder: has members that are not known: "a", "b"',
    );
  });

  it('names numbers and lists that are out of bounds', async () => {
    const schema = z.object({
      few: z.array(z.int()).min(2),
      low: z.number().min(5),
      high: z.number().lt(5),
      whole: z.int(),
    });
    expect(await complaint(schema, { few: [1], low: 4, high: 5, whole: 1.5 })).toBe(
      'createOrder: few: must have at least 2 items; low: must be at least 5; high: must be less than 5; whole: must be a whole number',
    );
  });

  it('never shows a value', async () => {
    const schema = z.object({ a: z.enum(['x']), b: z.int(), c: z.email(), d: z.literal('y') });
    const said = await complaint(schema, { a: 's3cret', b: 's3cret', c: 's3cret', d: 's3cret' });
    expect(said).not.toContain('s3cret');
  });
});

it('what another library says is kept', async () => {
  const schema = schemaOf<unknown, unknown>(() => ({ issues: [{ message: 'Invalid input', path: ['a'] }] }));
  expect(await complaint(schema, {})).toBe('createOrder: a: Invalid input');
});

it('an input that JSON would change is refused by its place', () => {
  expect(() => checkInput('onboard', z.looseObject({}), { at: new Date(0) })).toThrow(/^onboard: at: /);
});
