import type { AttackCase } from './attack-case.ts';
import { authenticCases, firstDelivery } from './cases/authentic.ts';
import { bodyCases } from './cases/bodies.ts';
import { disclosureCases } from './cases/disclosure.ts';
import { alteredCases, forgedCases, keyCases, rewrittenCases } from './cases/forgeries.ts';
import { otherShapeCases } from './cases/other-shapes.ts';
import { repetitionCases } from './cases/repetition.ts';
import { requestCases } from './cases/request-forms.ts';
import { signatureCases } from './cases/signatures.ts';
import { timingCase } from './cases/timing.ts';
import { transportCases } from './cases/transport.ts';

/** All cases but the first. Cases about earlier answers come late, slow ones last. */
const table = {
  ...authenticCases,
  ...otherShapeCases,
  ...forgedCases,
  ...alteredCases,
  ...rewrittenCases,
  ...signatureCases,
  ...keyCases,
  ...bodyCases,
  ...requestCases,
  ...repetitionCases,
  ...disclosureCases,
  timing: timingCase,
  ...transportCases,
};

export type CaseId = 'authentic' | keyof typeof table;

export interface NamedCase extends AttackCase {
  readonly id: CaseId;
}

/** The first case: without it the others prove nothing. */
export const baselineCase: NamedCase = { id: 'authentic', ...firstDelivery };

export const attackCases: readonly NamedCase[] = idsOf(table).map((id) => ({ id, ...table[id] }));

export function idsOf<Id extends string>(cases: Readonly<Record<Id, AttackCase>>): readonly Id[] {
  // Sound: the tables are literals, so they have no other keys.
  return Object.keys(cases) as Id[];
}
