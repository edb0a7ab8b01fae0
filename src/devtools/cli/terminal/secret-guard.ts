import { redactText } from '../../../internal/redaction.ts';
import type { SecretGuard, Variables } from './context.ts';
import { hasColours, visibleText } from './terminal-text.ts';

/** A shorter value is no key, and hiding it would cut ordinary text. */
const shortestSecret = 6;

/** Knows the secret keys of the environment and the passwords of addresses among the words from the start. */
export function secretGuard(env: Variables, words: readonly string[] = []): SecretGuard {
  const secrets = new Set<string>();
  const add = (secret: string | undefined) => {
    if (secret !== undefined && secret.length >= shortestSecret) secrets.add(secret);
  };
  for (const [name, value] of Object.entries(env)) if (secretName.test(name)) add(value);
  for (const password of words.flatMap(passwordsIn)) add(password);
  const redact = (text: string) => redactText(text, [...secrets]);
  return {
    add,
    release: (value) => void secrets.delete(value),
    redact,
    guard: (stream) => ({
      write(text) {
        return stream.write(visibleText(redact(text), { hasColours: hasColours(env, stream) }));
      },
      writeExact: (text) => stream.write(redact(text)),
      isTTY: stream.isTTY,
    }),
  };
}

/**
 * The passwords of an address in a text, in each form in which they may be printed. Drivers take a password in the query,
 * too: `postgres://host/orders?password=…`.
 */
export function passwordsIn(text: string): readonly string[] {
  if (!text.includes('://')) return [];
  const [, ofUser = ''] = /:\/\/[^\s:@/]*:(\S*)@/.exec(text) ?? [];
  const ofQuery = [...text.matchAll(/[?&]([^=&#\s]+)=([^&#\s]*)/g)].flatMap(([, name = '', value = '']) =>
    secretParameter.test(name) ? [value, value.replaceAll('+', ' ')] : [],
  );
  return [ofUser, ...ofQuery]
    .filter((password) => password !== '')
    .flatMap((password) => [password, safelyDecoded(password), encodeURIComponent(safelyDecoded(password))]);
}

const secretParameter = /auth|credential|key|pass|pwd|secret|token/i;

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The variables without keys, for a program of the user's. */
export function withoutSecrets(env: Variables): Variables {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secretName.test(name)));
}

/** Variables that hold a secret. Their table is not loaded, to keep `--help` fast; a test compares the two. */
const secretName = /^(?:PARTNER_SECRET_KEY|MERCHANT_SECRET_KEY(?:_.+)?|MESSENGER_(?:API|MASTER)_KEY)$/;
