import type { AttackCase } from './attack-case.ts';
import { alteredCases } from './cases/altered.ts';
import { authenticCases } from './cases/authentic.ts';
import { firstDelivery } from './cases/baseline.ts';
import { bodyCases } from './cases/bodies.ts';
import { contextCases } from './cases/contexts.ts';
import { forgedCases } from './cases/forgeries.ts';
import { handlingCases } from './cases/handled-once.ts';
import { orderIdCases } from './cases/order-ids.ts';
import { keyCases } from './cases/other-keys.ts';
import { repetitionCases } from './cases/repetition.ts';
import { sequenceCases } from './cases/sequences.ts';
import { signatureCases } from './cases/signatures.ts';
import { type Cause, type CauseId, causeTable } from './causes.ts';

/** All cases but the first. */
const table = {
  ...authenticCases,
  ...orderIdCases,
  ...sequenceCases,
  ...forgedCases,
  ...alteredCases,
  ...signatureCases,
  ...keyCases,
  ...bodyCases,
  ...contextCases,
  ...repetitionCases,
  ...handlingCases,
};

export type CaseId = 'authentic' | keyof typeof table;

export interface NamedCase extends AttackCase {
  readonly id: CaseId;
}

/** The first case: without it the others prove nothing. */
export const baselineCase: NamedCase = { id: 'authentic', ...firstDelivery };

export const attackCases: readonly NamedCase[] = Object.entries(table).map(([id, probe]) => ({
  // Sound: the tables are literals, so they have no other keys.
  id: id as keyof typeof table,
  ...probe,
}));

/** A cause of an id that no case has does not compile. */
export const attackCauses: Readonly<Record<CauseId, Cause<CaseId>>> = causeTable;
