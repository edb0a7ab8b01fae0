/** `npm start`, or `node start.ts fastify`: two replicas of the shop against the simulated service, until Ctrl-C. */
import { once } from 'node:events';
import { frameworks, openGround } from './ground.ts';

const { DATABASE_URL } = process.env;
const framework = frameworks.find((name) => name === (process.argv[2] ?? 'express'));
if (framework === undefined) throw new Error(`The frameworks are ${frameworks.join(', ')}.`);
if (DATABASE_URL === undefined)
  throw new Error('The shop needs a PostgreSQL: DATABASE_URL=postgres://user:password@host:5432/database');

const ground = await openGround(framework, { database: DATABASE_URL, sandbox: { whitelist: 'off' } });
await Promise.all([ground.startReplica(), ground.startReplica()]);
const { sandbox, url } = ground;
console.log(`The shop (two replicas, ${framework}) is at ${url}, the service at ${ground.sandboxUrl}.

  curl ${url}/codes -H 'content-type: application/json' -d '{"phone":"+234 801 234 5678"}'
  curl ${url}/sessions -H 'content-type: application/json' -d '{"id":"<id>","code":"<code>"}'
  curl ${url}/purchases -H 'content-type: application/json' -H 'authorization: Bearer <token>' -d '{"id":"P-1","fiat_amount":"15000.50","address":"TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP"}'
  curl ${url}/purchases/P-1 -H 'authorization: Bearer <token>'

The buyer of each purchase pays after five seconds. Messages of the service:`);

const shown = { messages: 0, orders: 0 };
const watch = setInterval(() => {
  for (const { to_phone, message } of sandbox.messages.slice(shown.messages))
    console.log(`${to_phone}: ${message}`);
  shown.messages = sandbox.messages.length;
  for (const { platform_order_ref } of sandbox.orders.slice(shown.orders))
    setTimeout(() => void sandbox.play(platform_order_ref, 'happy'), 5_000);
  shown.orders = sandbox.orders.length;
}, 200);

await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
clearInterval(watch);
await ground.stopReplicas();
await ground.close();
