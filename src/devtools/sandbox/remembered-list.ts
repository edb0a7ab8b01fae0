import type { Records } from './data.ts';

/** A log that keeps its last entries. */
export class RememberedList<Item extends object> {
  readonly #options: { readonly max: number; readonly prefix: string; readonly records: Records };
  readonly #items = new Map<number, Item>();
  #last = 0;

  constructor(options: { max: number; prefix: string; records: Records }) {
    this.#options = options;
  }

  get items(): readonly Item[] {
    return [...this.#items.values()];
  }

  add(item: Item): void {
    const { records } = this.#options;
    records.put(this.#key(this.#last + 1), item);
    this.#last += 1;
    this.#keep(this.#last, item);
  }

  /** Takes back a stored entry. Entries have to come in the order of their keys. */
  restore(key: string, item: Item): void {
    this.#last = Number(key.slice(this.#options.prefix.length));
    this.#keep(this.#last, Object.freeze(item));
  }

  clear(): void {
    for (const number of this.#items.keys()) this.#options.records.delete(this.#key(number));
    this.#items.clear();
    this.#last = 0;
  }

  #keep(number: number, item: Item): void {
    const { max, records } = this.#options;
    this.#items.set(number, item);
    for (const oldest of this.#items.keys()) {
      if (this.#items.size <= max) return;
      this.#items.delete(oldest);
      records.delete(this.#key(oldest));
    }
  }

  /** Leading zeros make the keys sort as the numbers do. */
  #key(number: number): string {
    return this.#options.prefix + String(number).padStart(15, '0');
  }
}
