import { keyPrefixes } from '../../../credentials/partner-credentials.ts';
import { ValidationError } from '../../../errors/errors.ts';
import type { FixedPartner, SandboxCredentials } from '../settings/fixed-partners.ts';
import type { SandboxSettings } from '../settings/sandbox-options.ts';
import { Refusal } from '../wire/requests.ts';
import { randomToken, secretDigest } from '../wire/sandbox-secrets.ts';

/** A mail of the service. */
export interface SandboxEmail {
  /** The partner's e-mail address. */
  readonly to: string;
  /** `onboarding`: the first keys; `reset`: new keys. */
  readonly kind: 'onboarding' | 'reset';
  /** As given at onboarding. */
  readonly partner_code: string;
  /** Works once, by HTTP GET or through `openLink`. Its origin is that of the request that caused it. */
  readonly link: string;
  /** Milliseconds since 1970. */
  readonly sentAt: number;
}

export interface Partner {
  readonly partnerId: string;
  readonly partnerCode: string;
  readonly email: string;
  readonly credentials: SandboxCredentials;
  /** The keys before the last regenerations, the newest first. */
  readonly earlier?: readonly Pick<Partner, 'credentials' | 'isGiven'>[];
  /** When these keys became valid, in milliseconds since 1970; absent until their link is opened. */
  readonly validFrom?: number;
  /** Whether the caller gave these keys: they may open the real service. */
  readonly isGiven?: boolean;
}

/** Enough to identify the key of most entries in the trace. */
const maxEarlier = 10;

interface Link {
  readonly digest: string;
  readonly partnerCode: string;
  readonly state: LinkState;
}

type LinkState = 'open' | 'used' | 'replaced';

export const linkPath = '/onboarding/one-time/';

export class PartnerRegistry {
  readonly #options: SandboxSettings;
  readonly #byCode = new Map<string, Partner>();
  /** Codes of partners by the digest of a public key, valid or not. */
  readonly #codes = new Map<string, string>();
  readonly #ids = new Map<string, string>();
  /** Links by the digest of their token. */
  readonly #links = new Map<string, Link>();
  readonly #emails: SandboxEmail[] = [];

  constructor(options: SandboxSettings) {
    this.#options = options;
  }

  /** The last mails, oldest first. */
  get emails(): readonly SandboxEmail[] {
    return [...this.#emails];
  }

  get all(): readonly Partner[] {
    return [...this.#byCode.values()];
  }

  onboard(partnerCode: string, email: string, origin: string): void {
    if (this.#byCode.has(partnerCode)) {
      throw new Refusal(
        409,
        'partner_exists',
        'This partner_code is registered: regenerate its keys instead.',
      );
    }
    const partnerId = `partner-${randomToken(this.#options.random, 8)}`;
    const credentials = issueKeys({ partnerId, partnerCode }, this.#options);
    this.#save({ partnerId, partnerCode, email, credentials });
    this.#mail({ to: email, kind: 'onboarding', partnerCode, origin });
  }

  /** Adds a partner with given keys, in place of any other with its code. */
  addFixed({ email, credentials }: FixedPartner): void {
    const { partnerId, partnerCode } = credentials;
    const validFrom = this.#options.now();
    this.#save({ partnerId, partnerCode, email, credentials, validFrom, isGiven: true });
  }

  /** Mails a link that replaces a partner's keys when it is opened. Earlier links stop working. */
  sendReset(partner: Partner, origin: string): void {
    for (const link of this.#links.values())
      if (link.partnerCode === partner.partnerCode && link.state === 'open')
        this.#links.set(link.digest, { ...link, state: 'replaced' });
    if (this.#options.oldKeysExpire === 'request') this.#save(this.#withNewKeys(partner));
    this.#mail({ to: partner.email, kind: 'reset', partnerCode: partner.partnerCode, origin });
  }

  /** Reveals the keys behind a link's token, once. */
  open(token: string): SandboxCredentials {
    const link = this.#links.get(secretDigest(token));
    const partner = link && this.#byCode.get(link.partnerCode);
    if (link === undefined || partner === undefined) {
      throw new Refusal(404, 'not_found', 'There is no such one-time link.');
    }
    if (link.state === 'used')
      throw new Refusal(
        410,
        'link_used',
        'The one-time link has been used: it shows the keys once. Ask for another with regenerateKeys, signed with the keys that it showed; without them, onboard under another partner_code.',
      );
    if (link.state === 'replaced') {
      throw new Refusal(410, 'link_replaced', 'A later link has taken the place of this one: open that one.');
    }
    // The first keys of a partner wait behind this link.
    const revealed = partner.validFrom === undefined ? partner : this.#withNewKeys(partner);
    const opened = { ...revealed, validFrom: this.#options.now() };
    this.#links.set(link.digest, { ...link, state: 'used' });
    this.#save(opened);
    return opened.credentials;
  }

  linkState(link: string): LinkState | undefined {
    return this.#links.get(secretDigest(this.tokenOf(link)))?.state;
  }

  /** The token in a link. @throws {ValidationError} for anything but a link of a sandbox */
  tokenOf(link: string | URL): string {
    const path = URL.canParse(String(link)) ? new URL(String(link)).pathname : '';
    if (!path.startsWith(linkPath)) {
      throw new ValidationError('The link', [{ path: [], message: 'is not a one-time link of the sandbox' }]);
    }
    return path.slice(linkPath.length);
  }

  byPublicKey(publicKey: string): Partner | undefined {
    const partner = this.#byCode.get(this.#codes.get(secretDigest(publicKey)) ?? '');
    const credentials = partner && [partner, ...(partner.earlier ?? [])].map((keys) => keys.credentials);
    const used = credentials?.find(({ partnerPublicKey }) => partnerPublicKey === publicKey);
    if (partner?.validFrom === undefined || used === undefined) return undefined;
    return { ...partner, credentials: used };
  }

  byId(partnerId: string): Partner {
    const partner = this.#byCode.get(this.#ids.get(partnerId) ?? '');
    if (partner === undefined) throw new Error('The order has no partner.');
    return partner;
  }

  clear(): void {
    for (const known of [this.#byCode, this.#codes, this.#ids, this.#links]) known.clear();
    this.#emails.length = 0;
  }

  /** Draws new keys, which are not valid yet. */
  #withNewKeys({ validFrom: _, isGiven, ...partner }: Partner): Partner {
    const { credentials, earlier = [] } = partner;
    const replaced = { credentials, ...(isGiven && { isGiven }) };
    return {
      ...partner,
      credentials: issueKeys(partner, this.#options),
      earlier: [replaced, ...earlier].slice(0, maxEarlier),
    };
  }

  #save(partner: Partner): void {
    const earlier = this.#byCode.get(partner.partnerCode);
    if (earlier !== undefined) this.#codes.delete(secretDigest(earlier.credentials.partnerPublicKey));
    this.#byCode.set(partner.partnerCode, partner);
    this.#ids.set(partner.partnerId, partner.partnerCode);
    const replaced = this.#options.oldKeysExpire === 'never' ? (partner.earlier ?? []) : [];
    for (const { credentials } of [partner, ...replaced])
      this.#codes.set(secretDigest(credentials.partnerPublicKey), partner.partnerCode);
  }

  #mail(mail: { to: string; kind: SandboxEmail['kind']; partnerCode: string; origin: string }): void {
    const token = randomToken(this.#options.random, 24);
    const digest = secretDigest(token);
    this.#links.set(digest, { digest, partnerCode: mail.partnerCode, state: 'open' });
    this.#emails.push(
      Object.freeze({
        to: mail.to,
        kind: mail.kind,
        partner_code: mail.partnerCode,
        link: `${mail.origin}${linkPath}${token}`,
        sentAt: this.#options.now(),
      }),
    );
    if (this.#emails.length > this.#options.maxRemembered) this.#emails.shift();
  }
}

function issueKeys(
  partner: Pick<SandboxCredentials, 'partnerId' | 'partnerCode'>,
  { random, merchants }: SandboxSettings,
): SandboxCredentials {
  const key = (prefix: string) => prefix + randomToken(random, 24);
  const byCurrency = () =>
    merchants.map((currency) => [currency, key(keyPrefixes.merchantSecretKey)] as const);
  return Object.freeze({
    partnerPublicKey: key(keyPrefixes.partnerPublicKey),
    partnerSecretKey: key(keyPrefixes.partnerSecretKey),
    merchantSecretKey: key(keyPrefixes.merchantSecretKey),
    ...(merchants.length > 0 && { merchantSecretKeys: Object.freeze(Object.fromEntries(byCurrency())) }),
    partnerId: partner.partnerId,
    partnerCode: partner.partnerCode,
  });
}
