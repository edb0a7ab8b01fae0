import { describe, expect, it } from 'vitest';
import { assumptions } from '../../src/deployment/assumptions.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { drawService } from './draw-service.ts';
import { dimensions, type Trait } from './service-traits.ts';

const services = Array.from({ length: 300 }, (_, seed) => drawService(seed));

describe('a drawn service', () => {
  it('is played by a sandbox, and is the same for the same seed', () => {
    for (const { seed, options } of services) {
      expect(() => createSandbox({ ...options, seed }), seed).not.toThrow();
      expect(JSON.stringify(drawService(Number(seed)).options)).toBe(JSON.stringify(options));
    }
  });

  it('names rows of the ledger, and now and then each one that a trait breaks', () => {
    const known = assumptions.map(({ id }) => id);
    const named = new Set(services.flatMap((service) => service.assumptions));
    expect([...named].filter((id) => !known.includes(id))).toEqual([]);
    const broken = Object.values<readonly Trait[]>(dimensions).flatMap((traits) =>
      traits.flatMap((trait) => trait.broken ?? []),
    );
    expect([...named].sort()).toEqual([...new Set([...broken, 'event-shape' as const])].sort());
  });
});
