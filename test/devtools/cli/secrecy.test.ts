import fc from 'fast-check';
import { expect, it } from 'vitest';
import { partnerExchange } from './run-in-process.ts';
import { filesIn } from './support.ts';

const prefixes = ['sk_partner_', 'sk_merchant_', 'pk_partner_', 'API-X-', 'Bearer '];

/** Keys as a careless user may have them: of the wrong kind, with blanks, or with what a shell or JSON escapes. */
const secretAfter = (...begins: string[]) =>
  fc
    .tuple(
      fc.constantFrom(...begins),
      fc.string({ minLength: 12, maxLength: 40, unit: fc.constantFrom(...'abcXYZ0189-_+/="\\\' é') }),
      fc.constantFrom('', '\n', ' '),
    )
    .map(([prefix, text, end]) => `${prefix}S3CRET${text}${end}`);
const secret = secretAfter('', ...prefixes);
/** A file name may be any text: it is repeated unless it looks like a key. */
const recognizable = secretAfter(...prefixes);

const command = fc.constantFrom(
  ['sign'],
  ['verify', '-'],
  ['learn'],
  ['onboard', '--email', 'dev@acme.example', '--partner-code', 'acme'],
  ['whitelist-ip'],
  ['messenger', 'send', '+2348012345678'],
  ['messenger', 'key', '1001', '--save', '/dev/null/none'],
  ['trigger', 'event.buy.init', '--to', 'http://127.0.0.1:1/'],
  ['attack', 'http://127.0.0.1:1/'],
);

const addresses = {
  PARTNER_EXCHANGE_ONBOARDING_BASE_URL: 'https://onboarding.example',
  PARTNER_EXCHANGE_STAGING_URL: 'https://staging.example',
  PARTNER_EXCHANGE_MESSENGER_BASE_URL: 'https://messenger.example',
  PARTNER_EXCHANGE_PATH_CHECK_NUMBER: '/check',
};

/** A service that repeats what it was told. */
const echo = async (input: string | URL | Request, init?: RequestInit) => {
  const request = new Request(input, init);
  const seen = `${[...request.headers].flat().join(' ')} ${request.url} ${await request.text()}`;
  return Response.json({ error: seen, message: seen }, { status: 400 });
};

function expectNothingOf(shown: string, value: string): void {
  const core = value.trim().slice(0, 200);
  for (const form of [core, JSON.stringify(core).slice(1, -1), encodeURIComponent(core)]) {
    if (form.length >= 12) expect(shown).not.toContain(form);
  }
}

it('no output shows a key of the environment, whatever is wrong with it', async () => {
  await fc.assert(
    fc.asyncProperty(command, secret, secret, secret, fc.boolean(), async (args, one, two, three, debug) => {
      const env = {
        ...addresses,
        PARTNER_PUBLIC_KEY: 'pk_partner_visible',
        PARTNER_SECRET_KEY: one,
        MERCHANT_SECRET_KEY: two,
        MERCHANT_SECRET_KEY_NGN: three,
        MESSENGER_API_KEY: three,
        MESSENGER_MASTER_KEY: two,
      };
      const stdin = JSON.stringify({ partner_order_id: 'A-1', signature: 'x' });
      const more = debug ? ['--debug'] : [];
      const { stdout, stderr } = await partnerExchange([...args, ...more], { env, stdin, fetch: echo });
      for (const value of [one, two, three]) expectNothingOf(stdout + stderr, value);
    }),
    { numRuns: 30 },
  );
});

it('no output shows a key that was typed where none belongs', async () => {
  await fc.assert(
    fc.asyncProperty(command, recognizable, fc.nat(8), async (args, value, place) => {
      const wrong = [value, `--key=${value}`, `--${value}`, `--format=${value}`, `--keys=${value}`];
      const words: string[] = [...args];
      words.splice(place % (args.length + 1), 0, wrong[place % wrong.length] ?? value);
      const { code, stdout, stderr } = await partnerExchange(words, {
        env: addresses,
        stdin: '{}',
        fetch: echo,
      });
      expect(code).not.toBe(0);
      expectNothingOf(stdout + stderr, value);
    }),
    { numRuns: 30 },
  );
});

it('no output shows a key of a file, whatever is wrong with it', async () => {
  await fc.assert(
    fc.asyncProperty(secret, secret, async (one, two) => {
      const content = {
        partnerPublicKey: 'pk_partner_visible',
        partnerSecretKey: one,
        merchantSecretKey: two,
      };
      const cwd = filesIn({ 'keys.json': JSON.stringify(content) });
      const args = ['sign', '--keys', 'keys.json', '--debug'];
      const { stdout, stderr } = await partnerExchange(args, { cwd, stdin: '{}' });
      for (const value of [one, two]) expectNothingOf(stdout + stderr, value);
    }),
    { numRuns: 15 },
  );
});

it('a reply that repeats a key shows none, in whatever member it is', async () => {
  const env = { ...addresses, MESSENGER_API_KEY: 'plain-text-of-a-key' };
  const fetch = async () => Response.json({ note: env.MESSENGER_API_KEY });
  for (const args of [['whitelist-ip'], ['whitelist-ip', '--format', 'json']]) {
    const { code, stdout } = await partnerExchange(args, { env, fetch });
    expect({ code, hasKey: stdout.includes(env.MESSENGER_API_KEY) }).toEqual({ code: 0, hasKey: false });
    expect(stdout).toContain('[redacted]');
  }
});
