import * as z from 'zod';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';

/** The partner to onboard, or to give new keys. */
export interface PartnerIdentity {
  /** Where the one-time link is sent. */
  email: string;
  /** @default `partnerCode` of the credentials */
  partner_code?: string | undefined;
}

const text = z.string().min(1);
export const partnerIdentity = z.looseObject({
  partner_code: text,
  email: z
    .string()
    .max(320)
    .regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address'),
});

/** The identity as it is sent: the code may come from the credentials. */
export function withPartnerCode(
  partner: PartnerIdentity,
  credentials: PartnerCredentials | undefined,
): unknown {
  if (partner?.partner_code !== undefined || credentials?.partnerCode === undefined) return partner;
  return { ...partner, partner_code: credentials.partnerCode };
}
