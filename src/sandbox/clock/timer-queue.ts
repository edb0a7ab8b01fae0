/** What is to run at a time. */
export interface Timer {
  readonly at: number;
  /** Runs of equal times keep the order in which they were set. */
  readonly order: number;
  readonly run: () => Promise<void> | void;
  isCancelled: boolean;
}

/** Timers by their time: a binary heap, so that 100,000 of them cost no more each than ten do. */
export class TimerQueue {
  readonly #heap: Timer[] = [];
  #order = 0;

  get first(): Timer | undefined {
    while (this.#heap[0]?.isCancelled) this.#removeFirst();
    return this.#heap[0];
  }

  add(at: number, run: Timer['run']): Timer {
    const timer: Timer = { at, run, order: this.#order++, isCancelled: false };
    let index = this.#heap.push(timer) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfLater(parent, index)) break;
      index = parent;
    }
    return timer;
  }

  /** Takes the first timer if it is due. */
  takeDue(now: number): Timer | undefined {
    const { first } = this;
    if (first === undefined || first.at > now) return undefined;
    this.#removeFirst();
    return first;
  }

  clear(): void {
    this.#heap.length = 0;
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const child = this.#isLater(left, left + 1) ? left + 1 : left;
      if (!this.#swapIfLater(index, child)) return;
      index = child;
    }
  }

  #swapIfLater(one: number, other: number): boolean {
    if (!this.#isLater(one, other)) return false;
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    this.#heap[one] = b;
    this.#heap[other] = a;
    return true;
  }

  #isLater(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    return a !== undefined && b !== undefined && (a.at - b.at || a.order - b.order) > 0;
  }
}
