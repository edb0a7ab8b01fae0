import { keyPrefixes } from '../../credentials/check-key.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { ValidationError } from '../../errors/validation-error.ts';
import { Refusal } from '../http/refusal.ts';
import { type RandomBytes, randomToken, secretDigest } from '../secrets.ts';

/** What a one-time link of the sandbox reveals: all keys and ids of a partner. */
export interface SandboxCredentials extends Omit<PartnerCredentials, 'merchantSecretKeys'> {
  readonly merchantSecretKey: string;
  /** Stays the same when keys are regenerated. */
  readonly partnerId: string;
  readonly partnerCode: string;
}

/** A mail as the service would have sent it. */
export interface SandboxEmail {
  readonly to: string;
  /** `onboarding`: the first keys; `reset`: the keys that replace them. */
  readonly kind: 'onboarding' | 'reset';
  readonly partner_code: string;
  /** Works once, by HTTP GET or through `openLink`, at the address that the request used. */
  readonly link: string;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

/** A partner of the sandbox with its current keys. Not public. */
export interface Partner {
  readonly partnerId: string;
  readonly partnerCode: string;
  readonly email: string;
  readonly credentials: SandboxCredentials;
}

interface Link {
  readonly partnerCode: string;
  state: 'open' | 'used' | 'replaced';
}

/** The path of one-time links, below the origin of the request that asked for them. */
export const linkPath = '/onboarding/one-time/';

/** Partners, their keys, and the links that reveal them. */
export class PartnerRegistry {
  readonly #random: RandomBytes;
  readonly #now: () => number;
  readonly #byCode = new Map<string, Partner>();
  /** The partner's code, by digest of a valid public key. */
  readonly #codes = new Map<string, string>();
  /** By digest of the token. */
  readonly #links = new Map<string, Link>();
  readonly emails: SandboxEmail[] = [];

  constructor(options: { random: RandomBytes; now: () => number }) {
    this.#random = options.random;
    this.#now = options.now;
  }

  /** Registers a partner and mails the link to its first keys, which become valid when the link is opened. */
  onboard(partnerCode: string, email: string, origin: string): void {
    if (this.#byCode.has(partnerCode)) {
      throw new Refusal(
        409,
        'partner_exists',
        'This partner_code is registered: regenerate its keys instead.',
      );
    }
    const partnerId = `partner-${randomToken(this.#random, 8)}`;
    const credentials = this.#issue(partnerId, partnerCode);
    this.#byCode.set(partnerCode, { partnerId, partnerCode, email, credentials });
    this.#mail({ to: email, kind: 'onboarding', partnerCode, origin });
  }

  /** Mails the link that replaces a partner's keys when it is opened; earlier links stop working. */
  sendReset(partner: Partner, origin: string): void {
    for (const link of this.#links.values()) {
      if (link.partnerCode === partner.partnerCode && link.state === 'open') link.state = 'replaced';
    }
    this.#mail({ to: partner.email, kind: 'reset', partnerCode: partner.partnerCode, origin });
  }

  /** Reveals the keys behind a link's token, once. */
  open(token: string): SandboxCredentials {
    const link = this.#links.get(secretDigest(token));
    const partner = link && this.#byCode.get(link.partnerCode);
    if (link === undefined || partner === undefined) {
      throw new Refusal(404, 'not_found', 'There is no such one-time link.');
    }
    if (link.state === 'used') throw new Refusal(410, 'link_used', 'The one-time link has been used.');
    if (link.state === 'replaced') {
      throw new Refusal(410, 'link_replaced', 'A later link has taken the place of this one.');
    }
    const before = secretDigest(partner.credentials.partnerPublicKey);
    const first = !this.#codes.has(before);
    const credentials = first ? partner.credentials : this.#issue(partner.partnerId, partner.partnerCode);
    link.state = 'used';
    this.#codes.delete(before);
    this.#codes.set(secretDigest(credentials.partnerPublicKey), partner.partnerCode);
    this.#byCode.set(partner.partnerCode, { ...partner, credentials });
    return credentials;
  }

  /** The token in a link. @throws {ValidationError} for anything but a link of a sandbox */
  tokenOf(link: string | URL): string {
    const path = URL.canParse(String(link)) ? new URL(String(link)).pathname : '';
    if (!path.startsWith(linkPath)) {
      throw new ValidationError('The link', [{ path: [], message: 'is not a one-time link of the sandbox' }]);
    }
    return path.slice(linkPath.length);
  }

  /** The partner with this valid public key. */
  byPublicKey(publicKey: string): Partner | undefined {
    const code = this.#codes.get(secretDigest(publicKey));
    return code === undefined ? undefined : this.#byCode.get(code);
  }

  /** The partner with this ID, which an order always has. */
  byId(partnerId: string): Partner {
    for (const partner of this.#byCode.values()) if (partner.partnerId === partnerId) return partner;
    throw new Error('The order has no partner.');
  }

  #issue(partnerId: string, partnerCode: string): SandboxCredentials {
    return Object.freeze({
      partnerPublicKey: `${keyPrefixes.partnerPublicKey}${randomToken(this.#random, 24)}`,
      partnerSecretKey: `${keyPrefixes.partnerSecretKey}${randomToken(this.#random, 24)}`,
      merchantSecretKey: `${keyPrefixes.merchantSecretKey}${randomToken(this.#random, 24)}`,
      partnerId,
      partnerCode,
    });
  }

  #mail(mail: { to: string; kind: SandboxEmail['kind']; partnerCode: string; origin: string }): void {
    const token = randomToken(this.#random, 24);
    const digest = secretDigest(token);
    if (this.#links.has(digest)) {
      throw new ConfigurationError('invalid_option', 'random gave the same bytes twice.');
    }
    this.#links.set(digest, { partnerCode: mail.partnerCode, state: 'open' });
    this.emails.push(
      Object.freeze({
        to: mail.to,
        kind: mail.kind,
        partner_code: mail.partnerCode,
        link: `${mail.origin}${linkPath}${token}`,
        sentAt: this.#now(),
      }),
    );
  }
}
