import type { Sandbox } from '../../src/sandbox/sandbox.ts';

/** What happened at the partner's side, as somebody sees it who stands beside it. */
export class Books {
  /** What broke a promise while the scenario ran. */
  readonly breaches: string[] = [];
  /** Orders that the partner wanted, with the payload that counts. */
  readonly amounts = new Map<string, string>();
  /** How often a process died while it was sending an order. */
  readonly deaths = new Map<string, number>();
  /** Texts of events, with the answers to each: a status, or 0 where nobody answered. */
  readonly answers = new Map<string, number[]>();
  /** How often the handler of a delivery has come to its end. */
  readonly handled = new Map<string, number>();
  /** Digests by the text of the event, as the service posted it. */
  readonly digests = new Map<string, string>();
  /** Orders of which any event was handled. */
  readonly evident = new Set<string>();
  /** Deliveries whose process ended before their handling was written down: they may be handled once more. */
  readonly interrupted = new Set<string>();
  readonly #failures = new Map<string, number>();

  breach(what: string): void {
    this.breaches.push(what);
  }

  answer(text: string, status: number): void {
    this.answers.set(text, [...(this.answers.get(text) ?? []), status]);
  }

  /** Some handlers fail the first time, some of them twice. */
  fails(digest: string, where: 'before' | 'after'): boolean {
    const most = { 0: 1, 1: 1, 2: 2 }[Number.parseInt(digest.slice(0, 1), 16)] ?? 0;
    if ((digest.slice(1, 2) < '8' ? 'before' : 'after') !== where) return false;
    return add(this.#failures, digest) <= most;
  }
}

/** Counts, and returns how many there are. */
export function add(counts: Map<string, number>, name: string): number {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  return count;
}

/** The orders that the service has under an id. */
export function ordersOf(sandbox: Sandbox, id: string) {
  return sandbox.orders.filter(({ partner_order_id }) => partner_order_id === id);
}
