import { ExchangeClient } from '../../src/client/exchange-client.ts';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { isOrderError, isPartnerExchangeError, isRequestError } from '../../src/errors/errors.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { order, senderOf } from './service.ts';

/** A process that creates orders; it is killed without warning. Run by `runOrders`. */
export interface OrderProcess {
  readonly onboardingBaseUrl: string;
  readonly credentials: PartnerCredentials;
  readonly path: string;
  readonly leaseMs: number;
  readonly ids: readonly string[];
  readonly concurrency: number;
}

/** What `create` said about one order. */
export interface Report {
  readonly id: string;
  /** `accepted`, or the outcome or code of the error. */
  readonly said: string;
}

if (process.argv[2] !== undefined) {
  // Written by the parent.
  const task = JSON.parse(process.argv[2]) as OrderProcess;
  // Do not outlive it.
  process.on('disconnect', () => process.exit());
  await work(task);
  // The channel would keep it alive.
  process.send?.('done', () => process.exit());
}

async function work(task: OrderProcess): Promise<void> {
  const { onboardingBaseUrl, credentials, path, leaseMs } = task;
  const exchange = new ExchangeClient({ deployment: defineDeployment({ onboardingBaseUrl }), credentials });
  const store = sqliteStore({ path });
  const journal = createOrderJournal({ exchange: senderOf(exchange), store, leaseMs });
  const waiting = [...task.ids];
  const worker = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const said = await journal.create({ ...order, partner_order_id: id }).then(
        ({ state, error }) => {
          if (isRequestError(error)) return error.outcome;
          return isOrderError(error) ? error.code : state;
        },
        (error: unknown) => (isPartnerExchangeError(error) ? error.code : String(error)),
      );
      process.send?.({ id, said } satisfies Report);
    }
  };
  await Promise.all(Array.from({ length: task.concurrency }, worker));
  await store.close();
}
