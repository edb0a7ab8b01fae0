import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/internal/json.ts';
import { sandboxTable } from '../../../tools/documents/api-table.ts';
import { type Story, sendMessages, startStory } from './story.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { content: { 'application/json': { schema: object } } };
  readonly responses: Readonly<Record<string, { content: Record<string, { schema: object }> }>>;
  readonly security?: readonly unknown[];
}

interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

let story: Story;
let document: Document;
let ajv: Ajv2020;

beforeAll(async () => {
  story = await startStory({ callbackRetry: { maxAttempts: 2, firstDelayMs: 60_000 } });
  // Its own form is checked below.
  document = (await story.api('openapi.json')).body as unknown as Document;
  ajv = new Ajv2020({ strict: true, allErrors: true, validateFormats: false, allowUnionTypes: true });
  ajv.addSchema(withReferences({ $id: 'document', $defs: document.components.schemas }));
});
afterAll(() => story[Symbol.asyncDispose]());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );

const validators = new Map<object, ValidateFunction>();

function validatorOf(schema: object): ValidateFunction {
  const validate = validators.get(schema) ?? ajv.compile(withReferences(schema));
  validators.set(schema, validate);
  return validate;
}

/** A schema of the document with its references where ajv finds them. */
function withReferences(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"document#/$defs/'));
}

describe('the OpenAPI document', () => {
  it('is one of version 3.1 with an operation for every endpoint', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.servers).toEqual([{ url: `${story.server.url}/_sandbox` }]);
    const endpoints = sandboxTable().map(({ id, method, path }) => `${id} ${method} /${path}`);
    const documented = operations().map(
      ({ path, method, operation }) => `${operation.operationId} ${method} ${path}`,
    );
    expect(documented.sort()).toEqual(endpoints.sort());
    expect(new Set(operations().map(({ operation }) => operation.operationId)).size).toBe(documented.length);
  });

  it('has no reference that leads nowhere, and names every parameter of a path', () => {
    const named = [...JSON.stringify(document).matchAll(/"#\/([^"]*)"/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(50);
    for (const reference of new Set(named)) {
      const [, , name = ''] = reference.split('/');
      expect(reference).toBe(`components/schemas/${name}`);
      expect(Object.keys(document.components.schemas)).toContain(name);
    }
    for (const { path, operation } of operations()) {
      const inPath = operation.parameters.filter((each) => each.in === 'path').map(({ name }) => name);
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  it('says that what changes something needs the token, and that reading may need it from elsewhere', () => {
    for (const { method, operation } of operations()) {
      expect(operation.security).toEqual(method === 'POST' ? [{ token: [] }] : [{}, { token: [] }]);
      expect(Object.keys(operation.responses)).toContain('401');
    }
  });
});

describe('the answers', () => {
  it('of every operation are as the document says, and so are the requests', {
    timeout: 60_000,
  }, async () => {
    await story.order('A-1');
    await story.order('A-2', { fiat_amount: '820', fiat_currency: 'GHS' });
    await story.order('A-3', { partner_callback_url: 'http://127.0.0.1:9/refused' });
    await sendMessages(story, [['+2348012345678', 'Your code is 482913']]);
    story.sandbox.faults.plan('whitelistIp', { kind: 'redirect', status: 302 });
    await story.exchange.whitelistIp().catch(() => {});
    await story.sandbox.idle();

    const done = new Set<string>();
    const check = async (id: string, path: string, body?: object): Promise<JsonObject> => {
      const found = operations().find(({ operation }) => operation.operationId === id);
      if (found === undefined) throw new Error(`There is no operation ${id}.`);
      const pattern = new RegExp(`^${found.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      expect(`/${path.split('?')[0]}`).toMatch(pattern);
      for (const name of new URLSearchParams(path.split('?')[1]).keys()) {
        expect(found.operation.parameters.map((each) => each.name)).toContain(name);
      }
      const { requestBody, responses } = found.operation;
      if (requestBody !== undefined) expectValid(requestBody.content['application/json'].schema, body);
      const answer = await story.api(path, found.method === 'POST' ? (body ?? {}) : undefined);
      expect([id, answer.status]).toEqual([id, 200]);
      expectValid(responses['200']?.content['application/json']?.schema ?? {}, answer.body);
      done.add(id);
      return answer.body;
    };

    await check('getOpenApi', 'openapi.json');
    await check('getState', 'state');
    await check('listEmails', 'emails');
    await check('listMessages', 'messages?limit=10&search=482913');
    await check('listOrders', 'orders?order=A-1&offset=0&search=ngn');
    await check('getOrder', 'orders/A-2');
    await check('listDeliveries', 'deliveries?order=A-3');
    await check('advanceOrder', 'orders/A-1/advance', { step: 'fiat_received' });
    await check('playOrder', 'orders/A-2/play', { scenario: 'third_party_then_refund' });
    await check('redeliver', 'deliveries/delivery-1/redeliver');
    await check('forge', 'deliveries/delivery-1/forge');
    await check('tamper', 'deliveries/delivery-3/tamper');
    await check('planFault', 'faults', {
      target: 'createOrder',
      fault: { kind: 'reset', when: 'after' },
      rate: 0.5,
    });
    await check('planFault', 'faults', { target: 'event', fault: 'duplicate' });
    await check('getState', 'state');
    await check('listEmails', 'emails');
    await check('listMessages', 'messages?limit=10&search=482913');
    await check('listOrders', 'orders?order=A-1&offset=0&search=ngn');
    await check('getOrder', 'orders/A-2');
    await check('listDeliveries', 'deliveries?order=A-3');
    await check('advanceOrder', 'orders/A-1/advance', { step: 'fiat_received' });
    await check('playOrder', 'orders/A-2/play', { scenario: 'third_party_then_refund' });
    await check('redeliver', 'deliveries/delivery-1/redeliver');
    await check('forge', 'deliveries/delivery-1/forge');
    await check('tamper', 'deliveries/delivery-3/tamper');
    await check('setFaults', 'faults', {
      next: [
        { target: 'createOrder', fault: { kind: 'reset', when: 'after' } },
        { target: 'event', fault: 'duplicate' },
      ],
      rates: {
        all: { reset: 0.5, server_error: { probability: 0.1, status: 503 } },
        createOrder: { html: 1 },
      },
    });
    await check('setFaults', 'faults', {});
    await check('getFaults', 'faults');
    await check('getState', 'state');
    const trace = await check('listTrace', 'trace?limit=1000');
    await check('listTrace', 'trace?after=3&bodies=false&limit=2');
    const { exchanges } = await check('searchTrace', 'trace/search?search=A-2+GHS+200');
    expect(exchanges).not.toEqual([]);
    expect(await check('searchTrace', 'trace/search?search=404')).toMatchObject({ exchanges: [] });
    for (const { id } of trace.entries as { id: number }[]) await check('getExchange', `trace/${id}`);
    const forged = (trace.entries as JsonObject[]).find(
      ({ kind, faults }) => kind === 'event' && String(faults) === 'forged',
    );
    await check('explainSignature', `trace/${forged?.id}/explanation`);
    await check('sendEdited', `trace/${forged?.id}/send`, { signature: 'renew' });
    await check('setRetry', 'retry', { policy: { maxAttempts: 3 } });
    await check('advanceClock', 'clock/advance', { ms: 1 });
    await check('drainClock', 'clock/drain');
    await check('reset', 'reset');
    await check('getState', 'state');
    // They answer with text: trace-stream.test.ts and page.test.ts.
    done.add('streamTrace').add('getPage');
    expect([...done].sort()).toEqual(
      operations()
        .map(({ operation }) => operation.operationId)
        .sort(),
    );
  });

  it('would be refused if they had a member more or one less', () => {
    const email = { to: 'a', kind: 'reset', partner_code: 'b', link: 'c', linkState: 'open', sentAt: 1 };
    const schema = { $ref: '#/components/schemas/Email' };
    expectValid(schema, email);
    expect(validatorOf(schema)({ ...email, more: 1 })).toBe(false);
    expect(validatorOf(schema)({ ...email, link: undefined })).toBe(false);
  });

  it.each([
    ['getState', 'GET', 'state?x=1', 200],
    ['listOrders', 'GET', 'orders?limit=x', 400],
    ['getOrder', 'GET', 'orders/none', 404],
    ['advanceOrder', 'POST', 'orders/none/advance', 400],
    ['planFault', 'PUT', 'faults', 405],
  ])('of a refusal have the form that the document says: %s', async (id, method, path, status) => {
    const response = await fetch(`${story.server.url}/_sandbox/${path}`, {
      method,
      headers: { authorization: `Bearer ${story.server.token}`, 'content-type': 'application/json' },
      body: method === 'POST' ? '{}' : null,
    });
    expect(response.status).toBe(status);
    const responses = operations().find(({ operation }) => operation.operationId === id)?.operation.responses;
    expectValid(responses?.[status]?.content['application/json']?.schema ?? {}, await response.json());
  });
});

function expectValid(schema: object, value: unknown): void {
  expect(Object.keys(schema).length).toBeGreaterThan(0);
  const validate = validatorOf(schema);
  validate(value);
  expect(validate.errors ?? []).toEqual([]);
}
