import { globSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { RequestError } from '../../src/errors/errors.ts';
import { type ReceivedRequest, startServer } from '../support/local-server.ts';
import { processorMs } from '../support/timing.ts';
import {
  apiKey,
  cautious,
  createOrder,
  credentials,
  exchangeAt,
  harmless,
  masterKey,
  message,
  messengerAt,
  order,
  partner,
  type Run,
  requestError,
} from './clients.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const escaped = (text: string) => JSON.stringify(text).slice(1, -1);

const spellings: [string, (text: string) => string][] = [
  ['as it is', (text) => text],
  ['in the escapes of JSON', escaped],
  ['URL-encoded', encodeURIComponent],
  ['in base64', base64],
];

/** What a service may have of a call. */
interface Received {
  readonly texts: readonly string[];
  readonly request: ReceivedRequest;
}

type Echo = (response: ServerResponse, received: Received) => void;

/** Where a reply can repeat the call, and how. */
const places: [string, (spell: (text: string) => string) => Echo][] = [
  [
    'a text',
    (spell) =>
      (response, { texts }) =>
        response.writeHead(500).end(texts.map(spell).join(' and ')),
  ],
  [
    'members of JSON, deep and in lists',
    (spell) =>
      (response, { texts }) => {
        const quoted = texts.map((text) => `we got ${spell(text)}, sorry`);
        response.writeHead(400).end(JSON.stringify({ error: { of: quoted }, message: quoted.join() }));
      },
  ],
  [
    'names of members',
    (spell) =>
      (response, { texts }) =>
        response.writeHead(422).end(JSON.stringify({ [texts.map(spell).join()]: 1 })),
  ],
  [
    'headers',
    (spell) =>
      (response, { texts }) => {
        // An HTTP header holds Latin-1 without control characters.
        const value = spell(texts.join(' '));
        response.writeHead(503, { 'x-echo': value, 'set-cookie': [value, `a=${value}`] }).end();
      },
  ],
];

/** What must not show: keys, signatures, and the text of an order or a message. */
const secrets = [
  credentials.partnerPublicKey,
  credentials.partnerSecretKey,
  credentials.merchantSecretKey,
  apiKey,
  masterKey,
  message.message,
  message.to_phone.slice(1),
  partner.email,
];

const operations: [string, Run][] = [...cautious, ...harmless];

/** The error of a call to a service that answers with what it got. */
async function echoed(run: Run, echo: Echo): Promise<{ error: RequestError; texts: readonly string[] }> {
  let texts: readonly string[] = [];
  const server = await startServer((response, request) => {
    const body = request.body.toString();
    const { signature } = { signature: '', ...(body === '' ? {} : JSON.parse(body)) };
    const query = new URL(request.url, 'http://host').search;
    texts = [request.headers.authorization ?? '', String(signature), body, query].filter(
      (text) => text.length > 7,
    );
    echo(response, { texts, request });
  });
  return { error: await requestError(run(server.url, { maxAttempts: 1 })), texts };
}

/** All that printing the error, its body and its headers shows. */
function printed({ body, headers, ...error }: RequestError): string {
  const parts = [body, [...(headers ?? [])], error];
  return parts.flatMap((part) => [inspect(part, { depth: null }), JSON.stringify(part)]).join('\n');
}

describe.each(operations)('the error of %s, from a service that repeats the call in', (_, run) => {
  describe.each(places)('%s', (_, echoIn) => {
    it.each(spellings)('%s: shows no key, no signature and no text of the request', async (_, spell) => {
      const { error, texts } = await echoed(run, echoIn(spell));
      const shown = printed(error).toLowerCase();
      const hiddenTexts = [...texts, ...secrets].flatMap((text) => [text, escaped(text), spell(text)]);
      expect(hiddenTexts.filter((text) => shown.includes(text.toLowerCase()))).toEqual([]);
      if (texts.length > 0) expect(shown).toContain('[redacted]');
    });
  });
});

describe('the body of an error', () => {
  it('hides a text that repeats a key whole, and leaves the others', async () => {
    const { error } = await echoed(createOrder, (response, { request }) => {
      const { authorization } = request.headers;
      response.setHeader('x-request-id', 'r-17').setHeader('x-echo', `you sent ${authorization}`);
      response.writeHead(401).end(JSON.stringify({ message: 'Bad key', got: `you sent ${authorization}` }));
    });
    expect(error.body).toEqual({ message: 'Bad key', got: '[redacted]' });
    expect(error.headers?.get('x-echo')).toBe('[redacted]');
    expect(error.headers?.get('x-request-id')).toBe('r-17');
  });

  it('keeps new keys, which are nowhere else', async () => {
    const keys = {
      partner_public_key: 'pk_partner_new',
      partner_secret_key: 'sk_partner_new',
      merchant_secret_key: 'sk_merchant_new',
      note: `pk_partner_new replaces ${credentials.partnerPublicKey}`,
    };
    const server = await startServer({ body: JSON.stringify(keys) });
    const schema = z.object({ keys: z.array(z.string()) });
    const call = exchangeAt(server.url).regenerateKeys(partner, { schema });
    const { body, code } = await requestError(call);
    expect(code).toBe('reply_nonconforming');
    expect(body).toEqual({ ...keys, note: '[redacted] pk_partner_new' });
  });

  it('loses of a text only personal data that is spelled as it was sent', async () => {
    const server = await startServer({
      status: 422,
      body: '{"message":"No account 0123498765 at Guaranty."}',
    });
    const refunded = { ...order, refund_account: '0123498765', refund_bank: 'Guaranty' };
    const { body } = await requestError(exchangeAt(server.url).createOrder(refunded));
    expect(body).toEqual({ message: 'No account [redacted] at Guaranty.' });
  });

  it('is read to its end, however long, in linear time', async () => {
    const text = `${'&#x41;%41\\n é '.repeat(30_000)}${credentials.partnerPublicKey} pk_partner_new`;
    const server = await startServer({
      status: 500,
      body: JSON.stringify({ text, list: [text.slice(-40)] }),
    });
    const begun = processorMs();
    const { body } = await requestError(createOrder(server.url));
    expect(JSON.stringify(body)).not.toContain(credentials.partnerPublicKey);
    expect(JSON.stringify(body)).toContain('[redacted] pk_partner_new');
    expect(processorMs() - begun).toBeLessThan(5_000);
  });
});

it('no page, example or doc comment prints the body of an error', () => {
  const root = new URL('../../', import.meta.url);
  const files = ['README.md', 'docs/**/*.md', 'examples/**/*.ts', 'src/**/*.ts'];
  const printing = globSync(files, { cwd: root }).filter((file) =>
    /console\.\w+\([^\n]*\berror\.(?:body|headers)\b/.test(readFileSync(new URL(file, root), 'utf8')),
  );
  expect(printing.filter((file) => !file.startsWith('docs/reference/'))).toEqual([]);
});

it('the header location of a redirect keeps its address', async () => {
  const server = await startServer((response, { url }) => {
    response.writeHead(307, { location: `https://moved.example${url}` }).end();
  });
  const { headers } = await requestError(messengerAt(server.url).checkNumber({ to_phone: message.to_phone }));
  expect(headers?.get('location')).toMatch(/^https:\/\/moved\.example\/numbers\/check\?/);
  expect(headers?.get('location')).not.toContain(apiKey);
  expect(headers?.get('location')).not.toContain('2348012345678');
});
