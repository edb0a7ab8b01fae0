import { type AttackCase, idsOf } from './attack-case.ts';
import { alteredCases, rewrittenCases } from './cases/altered.ts';
import { authenticCases } from './cases/authentic.ts';
import { firstDelivery } from './cases/baseline.ts';
import { bodyCases } from './cases/bodies.ts';
import { contextCases } from './cases/contexts.ts';
import { disclosureCases } from './cases/disclosure.ts';
import { forgedCases } from './cases/forgeries.ts';
import { handlingCases } from './cases/handled-once.ts';
import { otherShapeCases } from './cases/other-shapes.ts';
import { limitCases } from './cases/refusals-of-service.ts';
import { repetitionCases } from './cases/repetition.ts';
import { requestCases } from './cases/request-forms.ts';
import { sequenceCases } from './cases/sequences.ts';
import { signatureCases } from './cases/signatures.ts';
import { timingCase } from './cases/timing.ts';
import { connectionCases, transportCases } from './cases/transport.ts';
import { keyCases } from './cases/wrong-keys.ts';

/** All cases but the first. Cases about earlier answers come late, slow ones last. */
const table = {
  ...authenticCases,
  ...otherShapeCases,
  ...sequenceCases,
  ...forgedCases,
  ...alteredCases,
  ...rewrittenCases,
  ...signatureCases,
  ...keyCases,
  ...bodyCases,
  ...requestCases,
  ...contextCases,
  ...repetitionCases,
  ...handlingCases,
  ...disclosureCases,
  timing: timingCase,
  ...transportCases,
  ...connectionCases,
  ...limitCases,
};

export type CaseId = 'authentic' | keyof typeof table;

export interface NamedCase extends AttackCase {
  readonly id: CaseId;
}

/** The first case: without it the others prove nothing. */
export const baselineCase: NamedCase = { id: 'authentic', ...firstDelivery };

export const attackCases: readonly NamedCase[] = idsOf(table).map((id) => ({ id, ...table[id] }));
