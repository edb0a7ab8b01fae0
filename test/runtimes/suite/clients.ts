import {
  defineDeployment,
  ExchangeClient,
  isConfigurationError,
  isRequestError,
  readEnvironment,
} from 'partner-exchange-sdk';
import { signingKey, verifyBody } from 'partner-exchange-sdk/signature';
import { type Checks, equal, thrownBy } from './checks.ts';
import { credentials, order } from './fixtures.ts';

const deployment = defineDeployment({
  onboardingBaseUrl: 'https://onboarding.example',
  stagingUrl: 'https://staging.example',
});

/** The environment and a client, over a fetch of the suite's own. */
export async function checkClients(checks: Checks): Promise<void> {
  await checks.run(
    'readEnvironment reads the variables that it is given, and those of the process',
    async () => {
      const read = readEnvironment({
        PARTNER_EXCHANGE_STAGING_URL: 'https://staging.example',
        PARTNER_PUBLIC_KEY: credentials.partnerPublicKey,
        PARTNER_SECRET_KEY: credentials.partnerSecretKey,
      });
      equal(
        [read.deployment.stagingUrl, read.credentials?.partnerSecretKey],
        ['https://staging.example', credentials.partnerSecretKey],
      );
      equal(typeof readEnvironment().deployment, 'object');
    },
  );
  await checks.run('readEnvironment names the variable of a file that it cannot read', async () => {
    const error = await thrownBy(() =>
      readEnvironment({ PARTNER_EXCHANGE_DEPLOYMENT: '/nowhere/deployment.json' }),
    );
    equal(isConfigurationError(error) && error.code, 'invalid_environment');
    equal(String(error).includes('PARTNER_EXCHANGE_DEPLOYMENT: '), true);
  });
  await checks.run('createOrder posts a body signed with the key for orders', async () => {
    const { fetch, requests } = service(() => Response.json({ id: 7 }, { status: 201 }));
    const reply = await new ExchangeClient({ deployment, credentials, fetch }).createOrder(order);
    equal([reply.status, reply.body], [201, { id: 7 }]);
    const [request] = requests;
    equal(request?.authorization, `Bearer ${credentials.partnerPublicKey}`);
    const { value } = verifyBody(request?.body ?? '', { key: signingKey(credentials, 'order') });
    equal(value.partner_order_id, 'A-1001');
  });
  await checks.run('a failure of the network is told, and an order is not repeated', async () => {
    const { fetch, requests } = service(() => {
      throw new TypeError('fetch failed');
    });
    const error = await thrownBy(() =>
      new ExchangeClient({ deployment, credentials, fetch }).createOrder(order),
    );
    equal(isRequestError(error) && error.outcome, 'unknown');
    equal(requests.length, 1);
  });
  await checks.run('a reply that does not come is given up', async () => {
    const { fetch } = service(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    // real time: nothing ends before it: a busy machine only makes it later.
    const client = new ExchangeClient({ deployment, credentials, fetch, timeoutMs: 50 });
    const error = await thrownBy(() => client.createOrder(order));
    equal(isRequestError(error) && error.outcome, 'unknown');
  });
}

function service(answer: (request: Request) => Response | Promise<Response>) {
  const requests: { readonly authorization: string | null; readonly body: string }[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const body = await request.clone().text();
    requests.push({ authorization: request.headers.get('authorization'), body });
    return await answer(request);
  };
  return { fetch, requests };
}
