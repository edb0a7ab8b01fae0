import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import type { AttackCase } from './attack-case.ts';
import { alteredCases } from './cases/altered.ts';
import { authenticCases } from './cases/authentic.ts';
import { bodyCases } from './cases/bodies.ts';
import { disclosureCases } from './cases/disclosure.ts';
import { keyCases } from './cases/keys.ts';
import { repetitionCases } from './cases/repetition.ts';
import { requestCases } from './cases/requests.ts';
import { signatureCases } from './cases/signatures.ts';
import { timingCase } from './cases/timing.ts';
import { transportCases } from './cases/transport.ts';

/** All cases but the first, in their order: what looks at earlier answers comes late, what takes long last. */
export function attackCases(credentials: PartnerCredentials): readonly AttackCase[] {
  return [
    ...authenticCases,
    ...alteredCases,
    ...signatureCases,
    ...keyCases(credentials),
    ...bodyCases,
    ...requestCases,
    ...repetitionCases,
    ...disclosureCases,
    timingCase,
    ...transportCases,
  ];
}
