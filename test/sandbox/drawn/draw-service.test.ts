import { describe, expect, it } from 'vitest';
import { assumptions } from '../../../src/deployment/assumptions.ts';
import { isConfigurationError } from '../../../src/errors/errors.ts';
import { createSandbox } from '../../../src/sandbox/create-sandbox.ts';
import { drawService, serviceDimensions } from '../../../src/sandbox/drawn/draw-service.ts';
import { dimensions, type Trait } from '../../../src/sandbox/drawn/service-traits.ts';

const services = Array.from({ length: 1000 }, (_, seed) => drawService(seed));

describe('a drawn service', () => {
  it('is played by a sandbox, whatever the seed', () => {
    for (const { seed, options } of services) {
      expect(() => createSandbox({ ...options, seed }), seed).not.toThrow();
    }
  });

  it('is plain JSON data, and the same for the same seed', () => {
    for (const service of services) {
      expect(JSON.parse(JSON.stringify(service))).toEqual(service);
      expect(drawService(Number(service.seed))).toEqual(service);
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
    for (const [dimension, traits] of Object.entries<readonly Trait[]>(dimensions)) {
      for (const { options } of traits.slice(1)) {
        const drawn = services.filter((service) => holds(service.options, options));
        expect(drawn.length, `${dimension} ${JSON.stringify(options)}`).toBeGreaterThan(5);
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
      expect(options.wireNames).toBeUndefined();
      expect(options.signature?.construction).toBe('hmac');
    }
  });

  it('does not change in its other points when one stays as documented', () => {
    for (let seed = 0; seed < 50; seed++) {
      const asDocumented = ['members'] as const;
      const { members: _, ...others } = drawService(seed).differences;
      expect(drawService(seed, { asDocumented }).differences).toEqual(others);
    }
  });

  it.each([
    ['an empty seed', () => drawService('')],
    ['no number', () => drawService(Number.NaN)],
    ['an unknown point', () => drawService(1, { asDocumented: ['signature' as 'members'] })],
    ['an unknown option', () => drawService(1, { documented: [] } as object)],
  ])('is not drawn from %s', (_, draw) => {
    expect(draw).toThrow(expect.toSatisfy(isConfigurationError));
  });
});

/** Whether the options of a service include those of a trait. */
function holds(options: object, trait: object): boolean {
  return Object.entries(trait).every(([name, wanted]) => {
    const { [name]: value }: { readonly [name: string]: unknown } = { ...options };
    if (Array.isArray(wanted) && Array.isArray(value)) {
      return wanted.every((each) => value.some((one) => JSON.stringify(one) === JSON.stringify(each)));
    }
    if (typeof wanted === 'object' && wanted !== null && typeof value === 'object' && value !== null) {
      return holds(value, wanted);
    }
    return value === wanted;
  });
}
