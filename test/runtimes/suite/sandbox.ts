import { ExchangeClient } from 'partner-exchange-sdk';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { createWebhooks } from 'partner-exchange-sdk/webhooks';
import { type Checks, equal } from './checks.ts';
import { order } from './fixtures.ts';

/** The sandbox without a server: clients, service and receiver in one process. */
export async function checkSandbox(checks: Checks): Promise<void> {
  await checks.run('an order in the sandbox is created, and its events arrive', async () => {
    const names: string[] = [];
    let receive: (request: Request) => Promise<Response> = async () => new Response(null, { status: 500 });
    const sandbox = createSandbox({ fetch: (input, init) => receive(new Request(input, init)) });
    const { deployment, fetch } = sandbox;
    await new ExchangeClient({ deployment, fetch }).onboard({
      partner_code: 'acme',
      email: 'dev@acme.example',
    });
    const credentials = sandbox.openLink(sandbox.emails[0]?.link ?? '');
    receive = createWebhooks({ credentials }).onAny(({ event_name }) => {
      names.push(event_name);
    }).fetch;
    const exchange = new ExchangeClient({ deployment, credentials, fetch });
    await exchange.whitelistIp();
    await exchange.createOrder(order);
    await sandbox.idle();
    equal((await sandbox.advance(order.partner_order_id, 'fiat_received')).status, 200);
    equal(names, ['event.buy.init', 'event.buy.received.fiat']);
  });
}
