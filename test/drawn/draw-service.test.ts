import { describe, expect, it } from 'vitest';
import { assumptions } from '../../src/deployment/assumptions.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import type { SandboxReply } from '../../src/devtools/sandbox/settings/reply-forms.ts';
import { orderEventNames } from '../../src/events/event-names.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import { drawService, drawTraits, serviceDimensions } from './draw-service.ts';
import { dimensions, type Trait } from './service-traits.ts';

const services = Array.from({ length: 300 }, (_, seed) => drawService(seed));

describe('a drawn service', () => {
  it('is played by a sandbox, and is the same for the same seed', () => {
    for (const { seed, options } of services) {
      expect(() => createSandbox({ ...options, seed }), seed).not.toThrow();
      expect(JSON.stringify(drawService(Number(seed)).options)).toBe(JSON.stringify(options));
    }
  });

  it('differs from the assumed one in every point now and then, and in no point always', () => {
    for (const dimension of serviceDimensions) {
      const { length } = services.filter(({ differences }) => dimension in differences);
      expect(length, dimension).toBeGreaterThan(50);
      expect(length, dimension).toBeLessThan(150);
    }
  });

  it('has every trait of every point now and then', () => {
    const traits = new Set(services.flatMap(({ seed }) => drawTraits(seed).map(({ trait }) => trait)));
    const missing = Object.entries<readonly Trait[]>(dimensions).flatMap(([dimension, values]) =>
      values.flatMap((trait, index) => (traits.has(trait) ? [] : [`${dimension} ${index}`])),
    );
    expect(missing).toEqual([]);
  });

  it('has the options of all its traits, and their hooks one after another', () => {
    const body: JsonObject = { event_name: 'event.buy.init', meta_data: { status: 'refunded' } };
    for (const { seed, options } of services.slice(0, 50)) {
      const traits = drawTraits(seed).map(({ trait }) => trait.options);
      for (const { faults = [], ...trait } of traits) {
        expect(options).toMatchObject(JSON.parse(JSON.stringify(trait)));
        expect(options.faults).toEqual(expect.arrayContaining([...faults]));
      }
      for (const name of orderEventNames) {
        const changed = traits.reduce((before, { event }) => event?.(before, name) ?? before, body);
        expect(options.event?.(body, name), seed).toEqual(changed);
      }
      const own: SandboxReply = { status: 403, headers: {}, body: { message: 'as documented' } };
      const reply = traits.reduce((before, trait) => trait.reply?.(before, 'createOrder') ?? before, own);
      expect(options.reply?.(own, 'createOrder'), seed).toEqual(reply);
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

  it('stays as documented where the caller says so, and is the same in its other points', () => {
    for (const { seed, differences } of services.slice(0, 50)) {
      const { members: _, wireNames: __, ...others } = differences;
      const service = drawService(seed, { asDocumented: ['members', 'wireNames'] });
      expect(service.differences).toEqual(others);
      expect(service.options.deployment?.wireNames).toBeUndefined();
    }
  });
});
