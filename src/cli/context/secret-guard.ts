import { redactText } from '../../redaction/redact-request.ts';
import type { OutputStream, Variables } from './streams.ts';

/** A shorter value is no key, and hiding it would cut its characters out of every text. */
const shortestSecret = 6;

/** The keys that a run has read. Everything it prints goes through this, so that none is printed by mistake. */
export interface SecretGuard {
  /** Hides a value from now on. */
  add(secret: string | undefined): void;
  /** Shows a value from now on: the keys of a sandbox of ours, which may also be in the environment. */
  release(value: string): void;
  redact(text: string): string;
  /** The same stream, which shows no key. */
  guard(stream: OutputStream): OutputStream;
}

/** Knows the secret keys of the environment from the start. */
export function secretGuard(env: Variables): SecretGuard {
  const secrets = new Set<string>();
  const add = (secret: string | undefined) => {
    if (secret !== undefined && secret.length >= shortestSecret) secrets.add(secret);
  };
  for (const [name, value] of Object.entries(env)) if (secretName.test(name)) add(value);
  const redact = (text: string) => redactText(text, [...secrets]);
  return {
    add,
    release: (value) => void secrets.delete(value),
    redact,
    guard: (stream) => ({
      write: (text) => stream.write(redact(text)),
      isTTY: stream.isTTY,
      get columns() {
        return stream.columns;
      },
    }),
  };
}

/** Variables that hold a secret; not read off their table, which would load all of the configuration for `--help`. */
const secretName = /^(?:PARTNER_SECRET_KEY|MERCHANT_SECRET_KEY(?:_.+)?|MESSENGER_(?:API|MASTER)_KEY)$/;
