import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { createOrder, whitelistIp } from './clients.ts';

const text = '{"id":9007199254740993,"amount":1E-07,"of":[{"fee":"10.50"}],"api_key":"API-X-secret"}';
const fetch = async () => new Response(text, { headers: { 'content-type': 'application/json' } });
const service = 'https://service.example';

it('reply.decimal gives the digits that parsing rounds away, with and without a schema', async () => {
  for (const schema of [undefined, z.looseObject({ id: z.number() })]) {
    const reply = await createOrder(service, { fetch }, { schema });
    expect(reply.body).toMatchObject({ id: Number('9007199254740993') });
    expect(reply.decimal('id')).toBe('9007199254740993');
    expect(reply.decimal('amount')).toBe('0.0000001');
    expect(reply.decimal(['of', 0, 'fee'])).toBe('10.50');
    expect(reply.decimal('api_key')).toBeUndefined();
    expect(Object.keys(reply)).not.toContain('decimal');
    expect(inspect(reply.decimal, { showHidden: true, depth: 9 })).not.toContain('secret');
  }
});

it.each(['', 'accepted', '{"id":'])('reply.decimal of no JSON is undefined: %j', async (body) => {
  const reply = await whitelistIp(service, { fetch: async () => new Response(body) });
  expect(reply.decimal('id')).toBeUndefined();
});
