import { buffer } from 'node:stream/consumers';
import type { APIGatewayProxyHandlerV2, LambdaFunctionURLHandler } from 'aws-lambda';
import { expect, expectTypeOf, it } from 'vitest';
import { type LambdaRequest, lambdaHandler } from '../../../../src/webhooks/lambda-handler.ts';
import { thrownBy } from '../../../support/refusal.ts';
import { recordingWebhooks } from '../../deliveries.ts';
import { describeFramework } from './contract.ts';
import { listen } from './listen.ts';

const wholeBodies = { notHere: 'A function is started with a whole body: the gateway waits for it.' };
const differences = { slowBody: wholeBodies, clientAbort: wholeBodies };

for (const encoding of ['plain', 'base64'] as const) {
  describeFramework(
    `AWS Lambda, payload 2.0 of API Gateway and function URLs, ${encoding} bodies`,
    (webhooks) => {
      const handler = lambdaHandler(webhooks);
      return listen(async (request, response) => {
        const { statusCode, headers, body } = await handler({
          requestContext: { http: { method: request.method ?? '' } },
          headers: Object.fromEntries(
            Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
          ),
          ...bodyOf(await buffer(request), encoding),
        });
        response.writeHead(statusCode, headers).end(body);
      });
    },
    differences,
  );
}

it('the handler fits the types of both kinds of event', () => {
  const handler = lambdaHandler(recordingWebhooks().webhooks);
  expectTypeOf(handler).toExtend<(...parameters: Parameters<APIGatewayProxyHandlerV2>) => unknown>();
  const forGateway: APIGatewayProxyHandlerV2 = handler;
  const forUrl: LambdaFunctionURLHandler = handler;
  expectTypeOf(forGateway).toEqualTypeOf<APIGatewayProxyHandlerV2>();
  expectTypeOf(forUrl).toEqualTypeOf<LambdaFunctionURLHandler>();
});

/** As the gateway gives it: no member at all for an empty body. */
function bodyOf(
  bytes: Buffer,
  encoding: 'plain' | 'base64',
): Pick<LambdaRequest, 'body' | 'isBase64Encoded'> {
  const isBase64Encoded = encoding === 'base64';
  if (bytes.length === 0) return { isBase64Encoded };
  return { body: bytes.toString(isBase64Encoded ? 'base64' : 'utf8'), isBase64Encoded };
}

it.each([
  [
    'payload 1.0 of API Gateway',
    { version: '1.0', httpMethod: 'POST', headers: {}, requestContext: { httpMethod: 'POST' }, body: '{}' },
    'in payload 1.0 (REST API)',
  ],
  [
    'a load balancer',
    { httpMethod: 'POST', headers: {}, requestContext: { elb: { targetGroupArn: 'arn' } }, body: '{}' },
    'of an application load balancer',
  ],
  ['a test in the console', { key1: 'value1' }, 'of an unknown form'],
  ['nothing', undefined, 'of an unknown form'],
])('the handler says what it takes to an event of %s', async (_, event, form) => {
  const handler = lambdaHandler(recordingWebhooks().webhooks);
  const error: unknown = await handler(Object(event)).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    name: 'ConfigurationError',
    code: 'invalid_option',
    message: expect.stringContaining(
      `payload 2.0 of API Gateway (HTTP API) and of function URLs, and this one is ${form}`,
    ),
  });
});

it('the handler is not made of options in place of webhooks', () => {
  const error = thrownBy(() => lambdaHandler(Object({ keys: ['one'] })));
  expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining('createWebhooks') });
});
