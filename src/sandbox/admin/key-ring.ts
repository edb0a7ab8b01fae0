import { merchantsFor, signingKey } from '../../credentials/signing-key.ts';
import type { Partner } from '../partners/partner-registry.ts';
import type { SandboxState } from '../sandbox-state.ts';

/** A key that the sandbox has issued. */
export interface IssuedKey {
  readonly key: string;
  readonly purpose: 'general' | 'order';
  readonly partnerCode: string;
  /** Whether it was one of the partner's current keys at that time. */
  readonly isCurrent: boolean;
  /** What it is, without showing it. */
  readonly label: string;
}

/** Every key that can have signed something at a time, the likeliest partner's first. */
export function issuedKeys(
  state: SandboxState,
  { likely, at }: { likely: Partner | undefined; at: number },
): IssuedKey[] {
  const partners = [...state.partners.all].sort(
    (one, other) => Number(other === likely) - Number(one === likely),
  );
  return partners.slice(0, maxPartners).flatMap((partner) => keysOf(partner, state, at));
}

/** With thousands of partners, trying the keys of each would take too long: those of the likeliest are tried. */
const maxPartners = 100;

function keysOf(partner: Partner, { deployment }: SandboxState, at: number): IssuedKey[] {
  const scheme = deployment.signature;
  const { partnerCode, earlier = [] } = partner;
  const generations = [{ credentials: partner.credentials, until: Number.POSITIVE_INFINITY }, ...earlier];
  return generations.flatMap(({ credentials, until }, index) => {
    // In the same millisecond either may have been the current one.
    const isCurrent = at <= until && at >= (generations[index + 1]?.until ?? 0);
    const age = ages[index] ?? `, before the last ${index} regenerations`;
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

const ages = ['', ', before the last regeneration'] as const;
