import type { Answer } from './answer.ts';
import type { AttackResult, Finding } from './attack-result.ts';
import { skipped, worstOf } from './attack-result.ts';
import type { Disclosures } from './disclosures.ts';
import type { Delivery } from './exchange.ts';
import { judgeAcceptance, judgeRefusal, type RefusalRule } from './judge.ts';
import type { Probes } from './probes.ts';
import type { RawConnect } from './raw-connection.ts';

/** What a case works with. */
export interface Attack {
  readonly probes: Probes;
  post(delivery: Delivery): Promise<Answer>;
  /** Connections without HTTP's rules, or why there are none. */
  readonly raw: RawConnect | { readonly missing: string };
  /** How often the receiver's own code has acted on an order, if its owner can tell. */
  readonly handled: ((partnerOrderId: string) => number | Promise<number>) | undefined;
  /** The authentic delivery with which the attack began. */
  readonly baseline: string;
  /** What the answers so far have given away. */
  readonly disclosures: Disclosures;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface AttackCase extends Pick<AttackResult, 'id' | 'what' | 'expected'> {
  run(attack: Attack): Promise<Finding>;
}

interface Refused extends RefusalRule {
  readonly id: string;
  readonly what: string;
  /** @default '4xx' */
  readonly expected?: string;
  readonly deliveries: (probes: Probes) => readonly Delivery[];
}

/** A case of which every delivery must be refused. */
export function refused({ id, what, expected = '4xx', deliveries, ...rule }: Refused): AttackCase {
  return {
    id,
    what,
    expected,
    async run({ probes, post }) {
      const all = deliveries(probes);
      // Not every scheme signs everything: what it leaves open is no fault of the receiver.
      if (all.some(({ body }) => body !== undefined && probes.verifies(body))) return skipped(notForged);
      const findings: Finding[] = [];
      for (const delivery of all) findings.push(judgeRefusal(await post(delivery), rule));
      return worstOf(findings);
    },
  };
}

interface Accepted {
  readonly id: string;
  readonly what: string;
  /** What to do if it is refused. */
  readonly advice: string;
  readonly body: (probes: Probes) => string;
}

/** A case whose delivery is authentic and must be accepted. */
export function accepted({ id, what, advice, body }: Accepted): AttackCase {
  return {
    id,
    what,
    expected: '2xx',
    async run({ probes, post }) {
      const text = body(probes);
      if (!probes.verifies(text)) return skipped('this signature scheme cannot sign it');
      return judgeAcceptance(await post({ body: text }), advice);
    },
  };
}

const notForged = 'under this signature scheme it has a valid signature, so it is no forgery';
