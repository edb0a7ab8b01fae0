import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import ky from 'ky';
import { builtUrl, signBody } from './built-entries.ts';
import { estimate, measureInTurns, ratio } from './measure.ts';
import type { Finding } from './report.ts';

type Client = typeof import('../../src/index.ts');

// The built files, as they are installed; their types are those of the source.
const { checkAddress, defineDeployment, ExchangeClient, MessengerClient }: Client = await import(
  builtUrl('.')
);

const concurrency = 32;
/** The first round only warms up. */
const sampling = { rounds: 7, warmup: 1 };
/** Calls of one contender in a round: some ten young collections, so that each pays for its own garbage. */
const callsPerTurn = 2048;
/** Before them, in every turn: caches and the young generation are as after a while of the same work. */
const uncountedCalls = 512;
/** ky alone takes 2.1 to 2.7 times what fetch takes: three requests and several sets of headers for one. */
const budget = 2.7;
/** Percent that the check of its address may add to an order. */
const addressBudget = 2;

const partnerPublicKey = 'pk_partner_bench';
const partnerSecretKey = 'sk_partner_bench';
const merchantSecretKey = 'sk_merchant_bench';
const apiKey = 'API-X-bench';
const message = { to_phone: '+2348012345678', message: 'Your code is 493021' };
const order = {
  partner_order_id: 'A-1001',
  fiat_amount: '15000.50',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: 'https://partner.example/orders',
};
/** An address of each form with a checksum, by its chain: EIP-55's and MobileCoin's own test vectors. */
const addresses = {
  'usdt-trc20': order.buyer_crypto_address,
  'usdc-matic': '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  'eusd-mob':
    '6UEtkm1rieLhuz2wvELPHdGiCb96zNnW856QVeGLvYzE7NhmbG1MxnoSPGqyVfEHDvxzQmaURFpZcxT9TSypVgRVAusr7svtD1TcrYj92Uh',
};

/**
 * The processor time of this process for a call of a client, beside a bare fetch and ky with the same body, signed
 * beforehand, against a server in a process of its own.
 */
export async function benchClient(): Promise<Finding[]> {
  const server = fork(join(import.meta.dirname, 'client-server.ts'));
  try {
    const [port] = await once(server, 'message');
    return findingsOf(await measure(`http://127.0.0.1:${port}`));
  } finally {
    server.disconnect();
    await once(server, 'exit');
  }
}

function findingsOf(costs: Awaited<ReturnType<typeof measure>>): Finding[] {
  return [
    { what: 'fetch with an order signed beforehand', measured: estimate(costs.fetchOrder), unit: 'µs' },
    { what: 'createOrder', measured: estimate(costs.createOrder), unit: 'µs' },
    { what: 'sendMessage', measured: estimate(costs.sendMessage), unit: 'µs' },
    { what: 'createOrder / fetch', measured: ratio(costs.createOrder, costs.fetchOrder), atMost: budget },
    { what: 'sendMessage / fetch', measured: ratio(costs.sendMessage, costs.fetchMessage), atMost: budget },
    { what: 'ky alone / fetch, the same order', measured: ratio(costs.kyOrder, costs.fetchOrder) },
    shareOfOrder('a TRON address', costs.checkTron, costs.createOrder),
    shareOfOrder('an EVM address', costs.checkEvm, costs.createOrder),
    shareOfOrder('a MobileCoin address', costs.checkMobilecoin, costs.createOrder),
    { what: 'createOrder / ky alone', measured: ratio(costs.createOrder, costs.kyOrder) },
    { what: 'sendMessage / ky alone', measured: ratio(costs.sendMessage, costs.kyMessage) },
  ];
}

function shareOfOrder(what: string, check: readonly number[], createOrder: readonly number[]): Finding {
  const percent = check.map((time) => time * 100);
  return {
    what: `check of ${what} / createOrder`,
    measured: ratio(percent, createOrder),
    atMost: addressBudget,
    unit: '%',
  };
}

/** Microseconds for a call, one figure for each round. */
async function measure(url: string) {
  const deployment = defineDeployment({ onboardingBaseUrl: url, messengerBaseUrl: url });
  const credentials = { partnerPublicKey, partnerSecretKey, merchantSecretKey };
  const exchange = new ExchangeClient({ deployment, credentials });
  const messenger = new MessengerClient({ deployment, apiKey });
  const orderUrl = `${url}${deployment.paths.createOrder}`;
  const messageUrl = `${url}${deployment.paths.sendMessage}`;
  const json = { accept: 'application/json', 'content-type': 'application/json' };
  const orderPost = {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${partnerPublicKey}` },
    body: signBody(order, { key: merchantSecretKey + partnerSecretKey }).text,
  };
  const messagePost = {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ ...message, api_key: apiKey }),
  };
  const contenders = {
    fetchOrder: processorTimeOf(async () => (await fetch(orderUrl, orderPost)).json()),
    kyOrder: processorTimeOf(async () => (await ky(orderUrl, orderPost)).json()),
    createOrder: processorTimeOf(() => exchange.createOrder(order)),
    checkTron: processorTimeOf(check('usdt-trc20')),
    checkEvm: processorTimeOf(check('usdc-matic')),
    checkMobilecoin: processorTimeOf(check('eusd-mob')),
    fetchMessage: processorTimeOf(async () => (await fetch(messageUrl, messagePost)).json()),
    kyMessage: processorTimeOf(async () => (await ky(messageUrl, messagePost)).json()),
    sendMessage: processorTimeOf(() => messenger.sendMessage(message)),
  };
  return await measureInTurns(contenders, sampling);
}

function check(chain: keyof typeof addresses): () => Promise<unknown> {
  return async () => checkAddress(addresses[chain], { chain });
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Microseconds of the processor for a call. It collects first, or fetch would pay for the garbage of ky. */
function processorTimeOf(call: () => Promise<unknown>): () => Promise<number> {
  return async () => {
    collect();
    await callAtOnce(call, uncountedCalls);
    const before = process.cpuUsage();
    await callAtOnce(call, callsPerTurn);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / callsPerTurn;
  };
}

async function callAtOnce(call: () => Promise<unknown>, count: number): Promise<void> {
  let left = count;
  const work = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
