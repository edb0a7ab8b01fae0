import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assumptions } from '../../src/deployment/assumptions.ts';

const root = new URL('../../', import.meta.url);
const ids: readonly string[] = assumptions.map(({ id }) => id);

/** Every id that an error in src/ cites, with the file it stands in. */
function cited(): { file: string; id: string }[] {
  return globSync('src/**/*.ts', { cwd: root }).flatMap((file) => {
    const source = readFileSync(new URL(file, root), 'utf8');
    const lists = [...source.matchAll(/\bassumptions: (?:[^[\]\n]*\? *)?\[([^\]]*)\]/g)].map(
      ([, list]) => list ?? '',
    );
    return lists.flatMap((list) =>
      [...list.matchAll(/'([^']+)'/g)].map(([, id]) => ({ file, id: id ?? '' })),
    );
  });
}

describe('the assumption ledger', () => {
  it('has every id once', () => {
    expect(ids).toEqual([...new Set(ids)]);
  });

  it.each(assumptions)('says what is assumed, on what basis, and how to do otherwise: $id', (assumption) => {
    expect(assumption.id).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(assumption.statement).toMatch(/^[a-zA-Z].*\.$/s);
    expect(['published', 'reported', 'assumed']).toContain(assumption.basis);
    expect(assumption.override.length).toBeGreaterThan(0);
  });

  it.each(['docs/assumptions.md'])(
    'says in %s where reported facts come from, and which pillars rest on them',
    (page) => {
      const text = readFileSync(new URL(page, root), 'utf8');
      expect(text).toMatch(
        /public pages of deployments of the same family( say so)?, whose brands this package does not name/,
      );
      expect(text).toMatch(/treat it as a better guess/);
      const pillars = /Four pillars of the default rest[^.]*\./.exec(text)?.[0] ?? '';
      const named = [...pillars.matchAll(/`([a-z-]+)`/g)].map(([, id]) => id);
      expect(named).toHaveLength(4);
      for (const id of named) {
        expect(assumptions.find((each) => each.id === id)).toMatchObject({ basis: 'reported' });
      }
    },
  );

  it('has every id that an error cites', () => {
    const found = cited();
    expect(found.map(({ id }) => id)).toContain('signature-construction');
    expect(found.filter(({ id }) => !ids.includes(id))).toEqual([]);
  });

  // Contract: wherever it says "not shown" or contradicts itself.
  it.each([
    ['the construction of the signature', /HMAC-SHA512/],
    ['the serialisation of the body', /signed text/i],
    ['the encoding of the signature', /hexadecimal/],
    ['the key, and the variant with the public key', /Authentication 7/],
    ['the concatenation of the secrets', /between the merchant and the partner secret/],
    ['the lifetime of keys', /expiry/],
    ['the path of key regeneration', /OnboardPartner\.\//],
    ['the path of orders', /CreateOrder/],
    ['the payload of orders', /buy order/],
    ['pairs, chains and currencies', /chains/],
    ['replies', /2xx is a success/],
    ['errors', /4xx/],
    ['a caller that is not whitelisted', /whitelisted/],
    ['rate limits', /rate limit/],
    ['the number check', /number check/],
    ['verify_check', /verify_check/],
    ['the terminal crypto status', /Completed/],
    ['the spelling of the third-party error', /THIRD_PARTY_PAYMENT/],
    ['the body of event.buy.third_party_error', /event\.buy\.third_party_error/],
    ['other events', /sell orders/],
    ['the reply to a callback', /2xx for received/],
    ['retries of callbacks', /may never come again/],
    ['the order of events', /out of order/],
    ['the transitions of an order', /transition/i],
    ['versioning', /version/i],
  ])('speaks of %s', (_, pattern) => {
    expect(assumptions.filter(({ statement }) => pattern.test(statement))).not.toEqual([]);
  });
});
