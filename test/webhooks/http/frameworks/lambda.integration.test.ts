import { buffer } from 'node:stream/consumers';
import type {
  ALBHandler,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  LambdaFunctionURLHandler,
} from 'aws-lambda';
import { expect, expectTypeOf, it } from 'vitest';
import { type LambdaRequest, lambdaHandler } from '../../../../src/webhooks/lambda-handler.ts';
import type { BufferedRequest } from '../../../../src/webhooks/webhook-endpoint.ts';
import { thrownBy } from '../../../support/refusal.ts';
import { recordingWebhooks } from '../../deliveries.ts';
import { describeFramework } from './contract.ts';
import { listen } from './mount.ts';

/** A request as node:http received it. */
interface Received {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly isBase64Encoded: boolean;
}

const elb = { targetGroupArn: 'arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/orders/1' };

/** The events of each service, as its documentation shows them. */
const forms: Record<string, (received: Received) => LambdaRequest> = {
  'payload 2.0 of API Gateway and function URLs': ({ method, body, ...rest }) => ({
    // No member at all for an empty body.
    ...(body === null ? {} : { body }),
    ...rest,
    version: '2.0',
    rawPath: '/orders',
    rawQueryString: '',
    requestContext: { http: { method } },
  }),
  'payload 1.0 of API Gateway': ({ method, ...rest }) => ({
    ...rest,
    resource: '/orders',
    path: '/orders',
    httpMethod: method,
    queryStringParameters: null,
    requestContext: { httpMethod: method, path: '/live/orders', stage: 'live' },
  }),
  'a load balancer': ({ method, body, ...rest }) => ({
    ...rest,
    body: body ?? '',
    httpMethod: method,
    path: '/orders',
    queryStringParameters: {},
    requestContext: { elb },
  }),
};

for (const [index, [form, eventOf]] of Object.entries(forms).entries()) {
  const encoding = index % 2 === 0 ? 'utf8' : 'base64';
  describeFramework(`AWS Lambda, ${form}, bodies as ${encoding}`, (webhooks) => {
    const handler = lambdaHandler(webhooks);
    return listen(async (request, response) => {
      const bytes = await buffer(request);
      const event = eventOf({
        method: request.method ?? '',
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ),
        body: bytes.length === 0 ? null : bytes.toString(encoding),
        isBase64Encoded: encoding === 'base64',
      });
      const { statusCode, headers, ...answer } = await handler(event);
      response.writeHead(statusCode, headers);
      response.end(answer.body, answer.isBase64Encoded ? 'base64' : 'utf8');
    });
  });
}

it('the handler fits the types of every kind of event', () => {
  const handler = lambdaHandler(recordingWebhooks().webhooks);
  expectTypeOf(handler).toExtend<(...parameters: Parameters<APIGatewayProxyHandlerV2>) => unknown>();
  const forGateway: APIGatewayProxyHandlerV2 = handler;
  const forUrl: LambdaFunctionURLHandler = handler;
  const forRestApi: APIGatewayProxyHandler = handler;
  const forLoadBalancer: ALBHandler = handler;
  expect([forUrl, forRestApi, forLoadBalancer]).toEqual(Array(3).fill(forGateway));
});

/** What a function of credentials is told of the request. */
async function requestOf(event: LambdaRequest): Promise<BufferedRequest | undefined> {
  let seen: BufferedRequest | undefined;
  const { webhooks } = recordingWebhooks();
  await lambdaHandler({
    answer(request) {
      seen = request;
      return webhooks.answer(request);
    },
  })(event);
  return seen;
}

const event = { httpMethod: 'POST', path: '/orders', body: '{}', isBase64Encoded: false };

it.each([
  [
    'API Gateway, which decodes the query',
    { queryStringParameters: { shop: 'a b', n: '1' } },
    'shop=a+b&n=1',
  ],
  [
    'a load balancer, which leaves the query as sent',
    { queryStringParameters: { shop: 'a%20b', n: '1' }, requestContext: { elb } },
    'shop=a%20b&n=1',
  ],
])('the handler puts the address together: %s', async (_, parts, query) => {
  expect((await requestOf({ ...event, ...parts }))?.url).toBe(`/orders?${query}`);
});

it('the handler takes the test event of the console, whose headers and body are null', async () => {
  const handler = lambdaHandler(recordingWebhooks().webhooks);
  const answer = await handler({ ...event, body: null, headers: null });
  expect(answer).toMatchObject({ statusCode: 400, headers: { 'content-type': 'application/json' } });
});

it('the handler says what it takes to an event of a queue', async () => {
  const handler = lambdaHandler(recordingWebhooks().webhooks);
  await expect(handler(Object({ Records: [{ body: '{}' }] }))).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('queue to webhooks.receive.'),
  });
});

it.each([false, true])(
  'the handler refuses a body that a middleware has parsed (base64: %s)',
  async (isBase64Encoded) => {
    const parsed = { ...event, isBase64Encoded, body: { event_name: 'event.buy.init' } };
    const answer = lambdaHandler(recordingWebhooks().webhooks)(Object(parsed));
    await expect(answer).rejects.toMatchObject({ code: 'raw_body_required' });
  },
);

it.each([{ credentials: {} }, undefined])('the handler is not made of %j in place of webhooks', (other) => {
  // What a JavaScript caller may pass.
  const error = thrownBy(() => lambdaHandler(other as unknown as Parameters<typeof lambdaHandler>[0]));
  expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining('createWebhooks') });
});
