import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { emptyTimeline } from '../../src/events/order-timeline.ts';
import { root } from '../../tools/checks/entries.ts';
import { entrySource } from '../../tools/entry-source.ts';
import { partnerCredentials } from './partner.ts';
import { type Recipe, registry } from './shims/registry.ts';

/** A program of a page or an example that makes a receiver. */
export interface Program {
  /** The page with the number of the snippet, or the file. */
  readonly name: string;
  readonly code: string;
  /** The file that it stands for, whose relative imports count. */
  readonly file: string;
}

/** Programs that do not run in this process, and why. */
export const notInProcess: Readonly<Record<string, string>> = {
  'docs/details/inboxes.md#1': 'needs a transaction of PostgreSQL: test/inbox/store/handled-in has one',
  'examples/queues/jetstream.ts':
    'consumes from JetStream without end: test/inbox/queue/jetstream-program runs it beside a server',
  'examples/queues/bullmq.ts':
    'needs Redis and PostgreSQL: test/inbox/queue/bullmq-program runs it beside both',
  'examples/queues/pg-boss.ts': 'needs PostgreSQL: test/inbox/queue/pg-boss-program runs it beside one',
  'examples/order-timeline.ts': 'needs PostgreSQL for its own tables',
  'examples/shop/shop.ts': 'needs PostgreSQL: examples/shop/bad-day.ts runs it',
  'examples/demo.ts': 'starts the command line as processes',
};

/** Every program that calls `createWebhooks`: in README, on every page, and each example. */
export function findPrograms(): Program[] {
  const pages = globSync(['README.md', 'docs/**/*.md'], { cwd: root, exclude: ['docs/reference/**'] });
  const snippets = pages.sort().flatMap((page) => {
    const blocks = readFileSync(join(root, page), 'utf8').matchAll(/^```(?:ts|js)\n([\s\S]*?)^```$/gm);
    return [...blocks].map(([, code = ''], index) => ({ name: `${page}#${index + 1}`, code, file: page }));
  });
  const examples = globSync('examples/**/*.ts', { cwd: root })
    .sort()
    .map((file) => ({ name: file, code: readFileSync(join(root, file), 'utf8'), file }));
  return [...snippets, ...examples].filter(({ code }) => /\bcreateWebhooks\(/.test(code));
}

/** Runs a program as it is written, and returns the receivers that it made. */
export async function runProgram(program: Program): Promise<Recipe[]> {
  for (const [, kind, name = ''] of program.code.matchAll(/^declare (const|function) (\w+)/gm)) {
    Object.assign(globalThis, { [name]: declared[name] ?? (kind === 'function' ? async () => {} : {}) });
  }
  const before = registry.recipes.length;
  const made = await import(/* @vite-ignore */ writeModule(program));
  // A Worker makes its receiver for each request, and the shop of the tests when it is created.
  const environment = {
    ...variables,
    EVENTS: { send: async () => {} },
    ACCOUNTS: { fetch: async () => Response.json({}) },
  };
  await made.default?.fetch?.(new Request('https://x.example/', { method: 'POST', body: '{}' }), environment);
  made.createShop?.({ credentials: partnerCredentials });
  return registry.recipes.slice(before).filter(({ program: name }) => name === program.name);
}

export const variables = {
  PARTNER_PUBLIC_KEY: partnerCredentials.partnerPublicKey,
  PARTNER_SECRET_KEY: partnerCredentials.partnerSecretKey,
  MERCHANT_SECRET_KEY: partnerCredentials.merchantSecretKey,
  KEY_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  // Nothing listens there: what a program orders is not sent.
  PARTNER_EXCHANGE_ONBOARDING_BASE_URL: 'http://127.0.0.1:9',
};

/** What a snippet declares and leaves to the reader. */
const declared: Readonly<Record<string, unknown>> = {
  credentials: partnerCredentials,
  ofAll: [partnerCredentials],
  orderOf: async (id: unknown) => ({ partnerId: 'P-1', timeline: emptyTimeline(String(id)) }),
  sqs: { sendMessage: async () => {} },
};

const cache = join(root, 'node_modules/.cache/drawn');
const shims: Readonly<Record<string, string>> = {
  'partner-exchange-sdk/webhooks': 'webhooks',
  'partner-exchange-sdk/inbox': 'inbox',
  'partner-exchange-sdk/store': 'store',
  'node:http': 'outside',
  'node:sqlite': 'outside',
  pg: 'outside',
  amqplib: 'outside',
};

/** The program as JavaScript over the sources, with the address of the file. */
function writeModule({ name, code, file }: Program): string {
  const script = stripTypeScriptTypes(code).replaceAll(
    /(\bfrom\s+|^import\s+)'([^']+)'/gm,
    (_, before: string, specifier: string) => `${before}${JSON.stringify(addressOf(specifier))}`,
  );
  mkdirSync(cache, { recursive: true });
  const path = join(cache, `${name.replaceAll(/[^\w.]/g, '-')}.mjs`);
  writeFileSync(path, script);
  return pathToFileURL(path).href;

  function addressOf(specifier: string): string {
    const shim = shims[specifier];
    if (shim !== undefined) {
      const address = pathToFileURL(join(import.meta.dirname, `shims/${shim}.ts`)).href;
      return `${address}?program=${encodeURIComponent(name)}`;
    }
    if (specifier.startsWith('.')) {
      const other = join(dirname(file), specifier);
      const text = readFileSync(join(root, other), 'utf8');
      // What a shared file makes belongs to the program that imports it.
      return writeModule({ name: `${name}~${basename(other)}`, code: text, file: other }).replaceAll(
        '~',
        '~',
      );
    }
    const [, entry] = /^partner-exchange-sdk(\/[\w/-]+)?$/.exec(specifier) ?? [undefined, undefined];
    if (!specifier.startsWith('partner-exchange-sdk')) return specifier;
    return pathToFileURL(join(root, entrySource(`.${entry ?? ''}`, root))).href;
  }
}
