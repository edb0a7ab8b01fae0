/**
 * A place to try the shop in: the simulated service, a schema of its own in your PostgreSQL, two replicas behind a
 * balancer, and the operator who rotates the keys. In production each of these is a machine of yours.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createKeyRing, ExchangeClient, MessengerClient } from 'partner-exchange-sdk';
import { aesGcm, createKeyRotation, type KeyRotation, storedKeys } from 'partner-exchange-sdk/keys';
import { createSandbox, type SandboxOptions } from 'partner-exchange-sdk/sandbox';
import { postgresStore } from 'partner-exchange-sdk/store';
import pg from 'pg';
import { startBalancer } from './balancer.ts';
import { tables } from './tables.ts';

export const frameworks = ['express', 'fastify', 'nestjs'] as const;
export type Framework = (typeof frameworks)[number];

const identity = { partner_code: 'shop', email: 'dev@shop.example' };

export type Ground = Awaited<ReturnType<typeof openGround>>;

export async function openGround(
  framework: Framework,
  { database, sandbox: options }: { database: string; sandbox: SandboxOptions },
) {
  // In production the first schema of the search path will do.
  const schema = `shop_${randomBytes(6).toString('hex')}`;
  const address = new URL(database);
  address.searchParams.set('options', `-c search_path=${schema}`);
  const admin = new pg.Pool({ connectionString: address.href });
  admin.on('error', () => {});
  await admin.query(`CREATE SCHEMA ${schema}`);
  await admin.query(tables);

  const sandbox = createSandbox(options);
  const { deployment, url: sandboxUrl, close } = await sandbox.listen();
  const balancer = await startBalancer();

  const KEY_ENCRYPTION_KEY = randomBytes(32).toString('base64');
  const cipher = aesGcm({ keys: [{ id: '2026-11', key: KEY_ENCRYPTION_KEY }] });
  const storage = storedKeys({ store: postgresStore({ client: admin }), ...cipher });
  const credentials = createKeyRing({ load: () => rotation.credentials() });
  const exchange = new ExchangeClient({ deployment, credentials });
  const rotation: KeyRotation = createKeyRotation({ exchange, storage });
  const openLink = () => sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
  await exchange.onboard(identity);
  await rotation.receive(openLink());

  const OPERATOR_TOKEN = randomBytes(16).toString('hex');
  address.searchParams.set('application_name', schema);
  const env = {
    DATABASE_URL: address.href,
    PUBLIC_URL: balancer.url,
    PORT: '0',
    KEY_ENCRYPTION_KEY,
    OTP_SECRET: randomBytes(32).toString('base64'),
    OPERATOR_TOKEN,
    PARTNER_EXCHANGE_ONBOARDING_BASE_URL: deployment.onboardingBaseUrl,
    PARTNER_EXCHANGE_STAGING_URL: deployment.stagingUrl,
    PARTNER_EXCHANGE_MESSENGER_BASE_URL: deployment.messengerBaseUrl,
    MESSENGER_API_KEY: await pairDevice(new MessengerClient({ deployment, masterKey: sandbox.masterKey })),
  };
  const replicas: Replica[] = [];

  return {
    sandbox,
    sandboxUrl,
    url: balancer.url,
    admin,
    operatorToken: OPERATOR_TOKEN,

    async startReplica(): Promise<void> {
      const replica = await startReplica(framework, env);
      replicas.push(replica);
      balancer.targets.add(replica.url);
    },

    killReplica(): void {
      const [replica] = replicas;
      replica?.child.kill('SIGKILL');
      balancer.targets.delete(replica?.url ?? '');
    },

    /** Ends each connection of the replicas, to their callers and to the database. */
    async cutConnections(): Promise<void> {
      balancer.cut();
      const cut = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1';
      await admin.query(cut, [schema]);
    },

    /** Asks for new keys. With this service the old ones are dead until `receive` has stored the new ones. */
    async requestKeys(): Promise<void> {
      await rotation.request(identity);
    },

    async receiveKeys(): Promise<void> {
      await rotation.receive(openLink());
      await rotation.promote();
    },

    /** Stops the replicas as a deployment does. Returns the last line of each. */
    async stopReplicas(): Promise<readonly (string | undefined)[]> {
      const living = replicas.filter(({ child }) => child.exitCode === null && child.signalCode === null);
      for (const { child } of living) child.kill('SIGTERM');
      await Promise.all(living.map(({ ended }) => ended));
      return living.map(({ printed }) => printed.at(-1));
    },

    async close(): Promise<void> {
      for (const { child } of replicas) child.kill('SIGKILL');
      await Promise.all(replicas.map(({ ended }) => ended));
      balancer.close();
      await close();
      await admin.query(`DROP SCHEMA ${schema} CASCADE`);
      await admin.end();
    },
  };
}

/** Once for each device: its API key, paired. */
async function pairDevice(operator: MessengerClient): Promise<string> {
  const { body } = await operator.generateApiKey({ messenger_device_no: '1001' });
  // The sandbox's own choice of reply: with a real service, give the call a schema.
  const { api_key } = body as { api_key: string };
  await fetch(operator.scanDeviceUrl({ api_key }));
  return api_key;
}

type Replica = Awaited<ReturnType<typeof startReplica>>;

async function startReplica(framework: Framework, env: Readonly<Record<string, string>>) {
  // Node runs TypeScript, but no decorators.
  const flags = framework === 'nestjs' ? ['--import', './compile.ts'] : [];
  const child = spawn(process.execPath, [...flags, `${framework}.ts`], {
    cwd: import.meta.dirname,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const printed: string[] = [];
  const lines = createInterface(child.stdout).on('line', (line) => printed.push(line));
  await Promise.race([once(lines, 'line'), ended]);
  const [url] = printed;
  if (url === undefined) throw new Error('The shop did not start.');
  return { child, ended, printed, url };
}
