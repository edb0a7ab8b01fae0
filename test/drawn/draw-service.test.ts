import { describe, expect, it } from 'vitest';
import { assumptions } from '../../src/deployment/assumptions.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import type { SandboxReply } from '../../src/devtools/sandbox/settings/reply-forms.ts';
import { orderEventNames } from '../../src/events/event-names.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import { drawService, drawTraits, serviceDimensions } from './draw-service.ts';
import { dimensions, type Trait } from './service-traits.ts';

const services = Array.from({ length: 1000 }, (_, seed) => drawService(seed));

describe('a drawn service', () => {
  it('is played by a sandbox, whatever the seed', () => {
    for (const { seed, options } of services) {
      expect(() => createSandbox({ ...options, seed }), seed).not.toThrow();
    }
  });

  it('is the same for the same seed', () => {
    const body = {
      event_name: 'event.buy.init',
      partner_order_id: 'A-1',
      exchange_rate: 1500,
      pair: 'NGN/USDT',
    };
    const reply = { status: 200, headers: {}, body: { message: 'accepted' } };
    for (const service of services) {
      const again = drawService(Number(service.seed));
      expect(JSON.stringify(again)).toBe(JSON.stringify(service));
      for (const name of orderEventNames) {
        expect(again.options.event?.(body, name)).toEqual(service.options.event?.(body, name));
      }
      expect(again.options.reply?.(reply, 'onboard')).toEqual(service.options.reply?.(reply, 'onboard'));
    }
  });

  it('differs from the assumed one in every point now and then, and in no point always', () => {
    for (const dimension of serviceDimensions) {
      const { length } = services.filter(({ differences }) => dimension in differences);
      expect(length, dimension).toBeGreaterThan(200);
      expect(length, dimension).toBeLessThan(400);
    }
  });

  it('has every trait of every point now and then', () => {
    const counts = new Map<Trait, number>();
    for (const { seed } of services) {
      for (const { trait } of drawTraits(seed)) counts.set(trait, (counts.get(trait) ?? 0) + 1);
    }
    for (const [dimension, traits] of Object.entries<readonly Trait[]>(dimensions)) {
      for (const [index, trait] of traits.slice(1).entries()) {
        expect(counts.get(trait), `${dimension} ${index + 1}`).toBeGreaterThan(5);
      }
    }
  });

  it('has the options of all its traits, and their hooks one after another', () => {
    const body = {
      event_name: 'event.buy.init',
      fiat_amount_to_pay: 15_000.5,
      meta_data: { status: 'refunded' },
    };
    for (const { seed, options } of services) {
      const traits = drawTraits(seed).map(({ trait }) => trait.options);
      for (const { faults = [], ...trait } of traits) {
        expect(options).toMatchObject(JSON.parse(JSON.stringify(trait)));
        expect(options.faults).toEqual(expect.arrayContaining([...faults]));
      }
      for (const name of orderEventNames) {
        const changed = traits.reduce<JsonObject>((each, { event }) => event?.(each, name) ?? each, body);
        expect(options.event?.(body, name), seed).toEqual(changed);
      }
      for (const status of [200, 403, 409, 422]) {
        const own: SandboxReply = { status, headers: {}, body: { message: 'as documented' } };
        const reply = traits.reduce((each, trait) => trait.reply?.(each, 'createOrder') ?? each, own);
        expect(options.reply?.(own, 'createOrder'), seed).toEqual(reply);
      }
    }
  });

  it('names rows of the ledger, and each one that a trait breaks', () => {
    const known = assumptions.map(({ id }) => id);
    const named = new Set(services.flatMap((service) => service.assumptions));
    expect([...named].filter((id) => !known.includes(id))).toEqual([]);
    const broken = Object.values<readonly Trait[]>(dimensions).flatMap((traits) =>
      traits.flatMap((trait) => trait.broken ?? []),
    );
    expect([...named].sort()).toEqual([...new Set([...broken, 'event-shape' as const])].sort());
  });

  it('stays as documented where the caller says so', () => {
    for (let seed = 0; seed < 100; seed++) {
      const asDocumented = ['members', 'wireNames', 'construction'] as const;
      const { differences, options } = drawService(seed, { asDocumented });
      expect(asDocumented.filter((each) => each in differences)).toEqual([]);
      expect(options.deployment?.wireNames).toBeUndefined();
      expect(options.deployment?.signature?.construction).toBe('hmac');
    }
  });

  it('does not change in its other points when one stays as documented', () => {
    for (let seed = 0; seed < 50; seed++) {
      const asDocumented = ['members'] as const;
      const { members: _, ...others } = drawService(seed).differences;
      expect(drawService(seed, { asDocumented }).differences).toEqual(others);
    }
  });
});
