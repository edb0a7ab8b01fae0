import { integer, type OptionTable } from '../../internal/options.ts';

/**
 * Keeps bodies that cannot be verified yet, an optional capability of an inbox: during a rotation they may be signed with
 * keys that have not come. Nothing is known of such a body, anybody may have sent it, and no handler gets it. It is
 * answered 503 even so, and it is kept for a service that does not send it again.
 *
 * Best effort: when it is full, the newest body is not kept.
 */
export interface Quarantine {
  /** Keeps a body. `known`: the same text is kept already. `full`: there is no room for it. */
  keep(body: UnverifiedText): Promise<'kept' | 'known' | 'full'>;
  /** Some of the bodies, by their digests, without those that are too old. Only after the last one it is empty. */
  list(page: QuarantinePage): Promise<readonly UnverifiedText[]>;
  /** Forgets bodies by their digests: they were handed to `receive`, or are forged. */
  remove(digests: readonly string[]): Promise<void>;
}

/** A body whose signature matches no key that is known by now. */
export interface UnverifiedText {
  /** 64 hex digits: the same for equal bytes whose keys are those of the same partners. */
  readonly digest: string;
  /** As received. It may hold personal data. */
  readonly body: string;
  /** A digest of the names of the partners whose keys were tried. */
  readonly partners: string;
}

/** Which part of the bodies to list. */
export interface QuarantinePage {
  /** Only bodies after the one with this digest. */
  readonly after?: string | undefined;
  /** Most bodies, up to 300. */
  readonly limit: number;
}

/** How an inbox keeps bodies that cannot be verified yet. */
export interface QuarantineOptions {
  /**
   * Milliseconds for which a body is kept that cannot be verified, during a rotation of keys; 0 keeps none.
   * @default 86400000 (a day)
   */
  quarantineMs?: number | undefined;
  /**
   * Most such bodies, of 4 KiB on average. Nothing in them is verified, so somebody who sends many can fill the room:
   * then the newest is not kept. @default 10000
   */
  maxQuarantined?: number | undefined;
}

export const quarantineRows = {
  quarantineMs: integer({ default: 86_400_000, least: 0 }),
  maxQuarantined: integer({ default: 10_000 }),
} satisfies OptionTable<QuarantineOptions>;
