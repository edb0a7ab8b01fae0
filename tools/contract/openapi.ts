import { type AssumptionId, assumptions } from '../../src/deployment/assumptions.ts';
import { type BaseUrlName, type OperationRules, operationRules } from '../../src/deployment/operations.ts';
import { isJsonObject, type JsonObject } from '../../src/internal/json.ts';
import { sourceOf } from './describe-schema.ts';
import { type ContractDocument, eventDocuments, requestDocuments, requestFacts } from './documents.ts';
import type { ContractExample } from './examples.ts';

const about = [
  'The service as its contract describes it. Everything that the contract leaves open is marked.',
  '`x-source` says where an element comes from: `published` (the contract), `reported` (public documentation of comparable services) or `assumed`. `x-assumption` names an entry of the assumption ledger about it, `x-assumption-basis` says on what the entry rests, and `x-assumption-statement` quotes it. All entries are under `x-assumptions`.',
  'There are nine operations: eight under `paths`, and the order notification under `webhooks`, once for each event. In a notification the service calls the partner. Check events leniently: acknowledge an authentic event even if it is not described here.',
  'Verify signatures over the bytes as received, never over a body that was parsed and written again.',
].join('\n\n');

const baseUrls: Readonly<Record<BaseUrlName, { url: string; description: string }>> = {
  onboardingBaseUrl: {
    url: 'https://onboarding.example',
    description: 'Base URL of onboarding and orders: a placeholder, replace it with your own.',
  },
  stagingUrl: { url: 'https://staging.example', description: 'Staging URL: a placeholder.' },
  messengerBaseUrl: {
    url: 'https://messenger.example',
    description: 'Base URL of the messenger: a placeholder.',
  },
};

const securitySchemes = {
  publicKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The partner public key (contract: Authentication 2).',
  },
  masterKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: "The operator's master key, bare, without `Bearer` (contract: Endpoints 6).",
  },
  apiKey: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'The API key of a messenger device (contract: Endpoints 7 and 8).',
  },
};

/** For `api-key-in-body` OpenAPI has no scheme: the key is a member of the body. */
const security: Readonly<Record<OperationRules['authorization'], readonly JsonObject[]>> = {
  none: [],
  'public-key': [{ publicKey: [] }],
  'master-key': [{ masterKey: [] }],
  'api-key-in-query': [{ apiKey: [] }],
  'api-key-in-body': [],
};

/** Contract, Endpoints 2: it names no header, and Authentication 2 has one on every request. */
const optionalKey: readonly string[] = ['whitelistIp'];
const optionalKeyNote =
  'Without Authorization it is taken too: the contract names no header here (Endpoints 2), and the public key for every request (Authentication 2).';

/** How bodies are signed, with the entry of the ledger for each part. */
const signature = {
  construction: { value: 'HMAC-SHA512', ...sourceOf('signature-construction') },
  text: {
    value: 'the text of the body as sent, without its top-level member "signature" and one comma',
    ...sourceOf('signature-serialization'),
  },
  encoding: { value: '128 lower-case hexadecimal digits', ...sourceOf('signature-encoding') },
  keys: {
    general: 'partner secret key',
    order: 'merchant secret key followed by partner secret key',
    ...sourceOf('signature-key'),
  },
};

/** The OpenAPI 3.1 document of the service. */
export function openApiDocument(examples: readonly ContractExample[]): JsonObject {
  const requests = requestDocuments();
  const events = eventDocuments();
  const posted = requests.filter(({ schema }) => schema['x-in'] === 'body');
  const schemas = [...posted, ...events].map(componentOf);
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Partner exchange and messenger service',
      version: '1',
      description: about,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [baseUrls.onboardingBaseUrl],
    paths: Object.fromEntries(requests.map((each) => pathOf(each, examples))),
    webhooks: Object.fromEntries(events.map((each) => [each.name, { post: webhook(each, examples) }])),
    components: { securitySchemes, schemas: Object.fromEntries(schemas) },
    'x-signature': signature,
    'x-assumptions': assumptions.map(({ id, statement, basis }) => ({ id, statement, basis })),
  };
  // Sound: literals and JSON; `undefined` members are dropped.
  return JSON.parse(JSON.stringify(document)) as JsonObject;
}

function componentOf({ title, schema }: ContractDocument): [string, JsonObject] {
  const { $schema: _, title: __, 'x-in': ___, ...own } = schema;
  return [title, own];
}

function pathOf(request: ContractDocument, examples: readonly ContractExample[]): [string, object] {
  const { name, title, schema } = request;
  // Sound: the documents of requests are made of the table of operations.
  const rules = operationRules(name as keyof typeof requestFacts);
  const { summary, effect } = requestFacts[name as keyof typeof requestFacts];
  const isQuery = schema['x-in'] === 'query';
  const unknownPath = rules.path === undefined ? [pathParameter] : [];
  const operation = {
    operationId: name,
    summary,
    description: effect,
    servers: [baseUrls[rules.baseUrl]],
    security: [...security[rules.authorization], ...(optionalKey.includes(name) ? [{}] : [])],
    ...(optionalKey.includes(name) && { 'x-security-note': optionalKeyNote }),
    parameters: [
      ...unknownPath,
      ...(name === 'createOrder' ? [partnerIdHeader] : []),
      ...(isQuery ? queryParameters(schema) : []),
    ],
    requestBody: isQuery ? undefined : bodyOf(name, title, examples),
    responses: serviceReplies,
    ...sourceOf(rules.pathAssumption),
    'x-base-url': rules.baseUrl,
    'x-signed-with': rules.signedWith,
    'x-repeat': rules.repeat,
  };
  return [rules.path ?? '/{number_check_path}', { [rules.method.toLowerCase()]: operation }];
}

const pathParameter = {
  name: 'number_check_path',
  in: 'path',
  required: true,
  description: 'The path of the number check, which is not published.',
  schema: { type: 'string' },
  ...sourceOf('number-check'),
};

const partnerIdHeader = {
  name: 'x-partner-id',
  in: 'header',
  description: 'The partner ID, when it is known.',
  schema: { type: 'string' },
  ...sourceOf('order-partner-id'),
};

/** Without the API key, which is the security scheme. */
function queryParameters({ properties, required }: JsonObject): JsonObject[] {
  const names = Array.isArray(required) ? required : [];
  return Object.entries(isJsonObject(properties) ? properties : {})
    .filter(([name]) => name !== 'api_key')
    .map(([name, member]) => {
      const { description, examples: _, ...described } = isJsonObject(member) ? member : {};
      const extensions = Object.entries(described).filter(([key]) => key.startsWith('x-'));
      const schema = Object.entries(described).filter(([key]) => !key.startsWith('x-'));
      return {
        ...{ name, in: 'query', required: names.includes(name), description },
        ...Object.fromEntries(extensions),
        schema: Object.fromEntries(schema),
      } as JsonObject;
    });
}

function bodyOf(name: string, title: string, examples: readonly ContractExample[]) {
  const own = examples.filter(({ schema }) => schema === `schemas/${name}.json`);
  const values = own.map((each) => [each.name, { value: JSON.parse(each.text) }]);
  const schema = { $ref: `#/components/schemas/${title}` };
  return {
    required: true,
    content: { 'application/json': { schema, examples: Object.fromEntries(values) } },
  };
}

const serviceReplies = {
  '2XX': reply('The service took the request. No reply is shown.', 'replies'),
  '4XX': reply('The service refused to act.', 'errors'),
  default: reply('Whether the service acted is unknown.', 'errors'),
};

const partnerReplies = {
  '2XX': {
    description: 'The event is stored: the service need not repeat it.',
    ...sourceOf('callback-reply'),
  },
  default: {
    description: 'The event is not acknowledged. Whether the service repeats it is not shown.',
    ...sourceOf('callback-retry'),
  },
};

function reply(description: string, assumption: AssumptionId) {
  return { description, content: { 'application/json': { schema: {} } }, ...sourceOf(assumption) };
}

function webhook({ name, title, schema }: ContractDocument, examples: readonly ContractExample[]) {
  return {
    operationId: title,
    summary: name,
    description: schema.description,
    security: security['public-key'],
    requestBody: bodyOf(name, title, examples),
    responses: partnerReplies,
    'x-signed-with': 'order',
    'x-order-of-events': sourceOf('event-order'),
    'x-repetition': sourceOf('callback-retry'),
  };
}
