import type { JsonValue } from '../../src/internal/json.ts';

/** A source of numbers in [0, 1) that repeats itself for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A JSON text of a value as an unknown serializer may write it: any white space, any escapes. */
export function writeLoosely(value: JsonValue, random: () => number): string {
  const gap = () => (random() < 0.6 ? '' : pick(random, [' ', '\n', '\t', '\r\n', '  \n ']));
  const list = (items: string[], open: string, close: string) =>
    items.length === 0
      ? `${open}${gap()}${close}`
      : `${open}${items.map((item) => `${gap()}${item}${gap()}`).join(',')}${close}`;
  const write = (item: JsonValue): string => {
    if (typeof item === 'string') return writeString(item, random);
    if (Array.isArray(item)) return list(item.map(write), '[', ']');
    if (typeof item !== 'object' || item === null) return JSON.stringify(item);
    const members = Object.entries(item).map(
      ([name, member]) => `${writeString(name, random)}${gap()}:${gap()}${write(member)}`,
    );
    return list(members, '{', '}');
  };
  return `${gap()}${write(value)}${gap()}`;
}

function writeString(text: string, random: () => number): string {
  const units = Array.from({ length: text.length }, (_, index) => {
    const unit = text.charAt(index);
    if (unit === '/' && random() < 0.5) return '\\/';
    if (random() < 0.1) return `\\u${hex(unit, random)}`;
    return JSON.stringify(unit).slice(1, -1);
  });
  return `"${units.join('')}"`;
}

function hex(unit: string, random: () => number): string {
  const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return random() < 0.5 ? digits : digits.toUpperCase();
}

function pick<Item>(random: () => number, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(random() * items.length)] ?? items[0];
}
