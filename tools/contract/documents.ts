import * as z from 'zod';
import { partnerIdentity } from '../../src/client/exchange-client.ts';
import { apiKeyRequest, messageRequest, numberCheck } from '../../src/client/messenger-client.ts';
import { type Operation, operationNames, operationRules } from '../../src/deployment/operations.ts';
import { reportedBuyOrder } from '../../src/deployment/order-schema.ts';
import { eventSchemaNames, orderEventNames } from '../../src/events/event-names.ts';
import { makeEventSchemas } from '../../src/events/event-schemas.ts';
import type { OrderEventName } from '../../src/events/order-event.ts';
import type { JsonObject } from '../../src/internal/json.ts';
import { describeSchema } from './describe-schema.ts';
import { type InterfaceDoc, type MemberDoc, readInterfaces } from './doc-comments.ts';
import { sampleBodies, sampleRequests } from './samples.ts';

const eventSchemas = makeEventSchemas({ ...z, object: z.looseObject }, 'open');

/** The schema of one event or request. */
export interface ContractDocument<Name extends string = string> {
  /** The name of the event, or of the operation. */
  readonly name: Name;
  readonly title: string;
  readonly schema: JsonObject;
}

const interfaceOf = readInterfaces(
  [
    'events/event-types.ts',
    'deployment/order-schema.ts',
    'client/exchange-client.ts',
    'client/messenger-client.ts',
  ].map((file) => new URL(`../../src/${file}`, import.meta.url)),
);

/** The schema of each published event, in the order of a lifecycle. A delivered event always has a signature. */
export function eventDocuments(): ContractDocument<OrderEventName>[] {
  return orderEventNames.map((name) => {
    const schemaName = eventSchemaNames[name];
    const event: z.ZodObject = eventSchemas[schemaName];
    // The interface is named like its schema: BuyInitEvent, buyInitEvent.
    const title = `B${schemaName.slice(1)}`;
    const schema = describeSchema({
      name,
      title,
      schema: event.required({ signature: true }),
      doc: interfaceOf(title),
      // Sound: it is plain JSON data.
      sample: sampleBodies[mainExample(name)] as unknown as JsonObject,
    });
    return { name, title, schema };
  });
}

/** The example that shows the members of an event. */
export function mainExample(name: OrderEventName): keyof typeof sampleBodies {
  return name === 'event.buy.received.fiat_kyc_error' ? `${name}.NO_KYC` : name;
}

/** What is known of one operation beyond the table of operations. */
interface RequestFacts {
  readonly summary: string;
  readonly effect: string;
  /** The interface that documents the request; `whitelistIp` takes any data. */
  readonly type?: string;
  readonly schema: z.ZodType;
}

const signature = { signature: z.string() };

/** The request of each operation, as it goes over the wire. */
export const requestFacts: Readonly<Record<Operation, RequestFacts>> = {
  onboard: {
    summary: 'Register a partner',
    effect:
      'The public key, the secret key and the partner ID are e-mailed as a one-time link (contract: Endpoints 1).',
    type: 'PartnerIdentity',
    schema: partnerIdentity,
  },
  whitelistIp: {
    summary: 'Whitelist the address of the caller',
    effect:
      'The service reads the address that the request comes from and whitelists it. The body may be any data (contract: Endpoints 2).',
    schema: z.unknown(),
  },
  regenerateKeys: {
    summary: 'Ask for new keys',
    effect:
      'A one-time reset link is e-mailed; after the regeneration the old keys are invalid (contract: Endpoints 3).',
    type: 'PartnerIdentity',
    schema: partnerIdentity.extend(signature),
  },
  createOrder: {
    summary: 'Create a buy order',
    effect:
      'Creates an order. A repeated request can be a second order: never repeat one whose outcome is unknown (contract: Endpoints 4).',
    type: 'BuyOrder',
    schema: reportedBuyOrder.extend(signature),
  },
  generateApiKey: {
    summary: 'Generate the API key of a messenger device',
    effect: 'No operation lists the generated keys: store the key (contract: Endpoints 6).',
    type: 'ApiKeyRequest',
    schema: apiKeyRequest,
  },
  scanDevice: {
    summary: 'Pair a messenger device',
    effect:
      'Open this address in a browser and scan the device. The API key is ready for use once the device is connected (contract: Endpoints 7).',
    type: 'DeviceKey',
    schema: z.looseObject({ api_key: z.string().min(1) }),
  },
  checkNumber: {
    summary: 'Check whether a number is on the messenger',
    effect: 'The path and the parameters besides the API key are not shown (contract: Endpoints 8).',
    type: 'NumberCheckRequest',
    schema: numberCheck.required({ api_key: true }),
  },
  sendMessage: {
    summary: 'Send a message',
    effect: 'Sends a text to a phone number through the device of the API key (contract: Endpoints 9).',
    type: 'MessageRequest',
    schema: messageRequest.required({ api_key: true }),
  },
};

/** The schema of each request: of its body, or of the parameters of its query. */
export function requestDocuments(): ContractDocument<Operation>[] {
  return operationNames.map((name) => {
    const { type, schema, summary } = requestFacts[name];
    const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}Request`;
    const described = describeSchema({
      name,
      title,
      schema,
      doc: requestDoc(type, summary),
      sample: sampleRequests[name],
    });
    const where = operationRules(name).method === 'GET' ? 'query' : 'body';
    return { name, title, schema: { ...described, 'x-in': where } };
  });
}

function requestDoc(type: string | undefined, summary: string): InterfaceDoc {
  if (type === undefined) return { text: 'Any JSON data.', ledger: undefined, members: new Map() };
  const doc = interfaceOf(type);
  const text = 'Signature of the body (contract: Authentication).';
  const signed: MemberDoc = { text, source: 'published', ledger: undefined };
  const members = new Map([...doc.members, ['signature', signed] as const]);
  return { text: doc.text || `${summary}.`, ledger: doc.ledger, members };
}
