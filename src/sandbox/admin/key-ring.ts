import { merchantsFor, signingKey } from '../../credentials/signing-key.ts';
import type { Partner } from '../partners/partner-registry.ts';
import type { SandboxState } from '../sandbox-state.ts';

/** A key that the sandbox has issued. */
export interface IssuedKey {
  readonly key: string;
  readonly purpose: 'general' | 'order';
  readonly partnerCode: string;
  /** Whether it is one of the partner's current keys. */
  readonly isCurrent: boolean;
  /** What it is, without showing it. */
  readonly label: string;
}

/** Every key that can have signed something, the likeliest partner's first. */
export function issuedKeys(state: SandboxState, likely: Partner | undefined): IssuedKey[] {
  const partners = [...state.partners.all].sort(
    (one, other) => Number(other === likely) - Number(one === likely),
  );
  return partners.slice(0, maxPartners).flatMap((partner) => keysOf(partner, state));
}

/** With thousands of partners, trying the keys of each would take too long: those of the likeliest are tried. */
const maxPartners = 100;

function keysOf(partner: Partner, { deployment }: SandboxState): IssuedKey[] {
  const scheme = deployment.signature;
  const { partnerCode } = partner;
  const generations = [
    { credentials: partner.credentials, isCurrent: true, age: '' },
    { credentials: partner.previous, isCurrent: false, age: ', before the last regeneration' },
  ];
  return generations.flatMap(({ credentials, isCurrent, age }) => {
    if (credentials === undefined) return [];
    const facts = { partnerCode, isCurrent };
    const orders = merchantsFor(credentials, scheme).map((merchant) => ({
      ...facts,
      key: signingKey(credentials, 'order', { scheme, merchant }),
      purpose: 'order' as const,
      label: `order key${merchant === undefined ? '' : ` for ${merchant}`} of ${partnerCode}${age}`,
    }));
    const general = {
      ...facts,
      key: signingKey(credentials, 'general'),
      purpose: 'general' as const,
      label: `partner secret of ${partnerCode}${age}`,
    };
    return [...orders, general];
  });
}
