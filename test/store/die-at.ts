import { openStore } from './open-store.ts';

/**
 * A process of its own that changes two records, and kills itself at one of its calls to the engine: before it, right
 * after it was sent, or after its reply.
 */
const [engine = '', address = '', name = '', callNumber = '0', moment = ''] = process.argv.slice(2);
const { store, client, close } = await openStore(engine, address, name);
let calls = 0;

function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Counts the calls of these methods. */
function watch(target: object, methods: readonly string[]): void {
  for (const method of methods) {
    const original: unknown = Reflect.get(target, method);
    if (typeof original !== 'function') continue;
    Reflect.set(target, method, (...args: unknown[]) => {
      const isIt = ++calls === Number(callNumber);
      if (isIt && moment === 'before') killSelf();
      const reply: unknown = Reflect.apply(original, target, args);
      if (isIt && moment === 'sent') setImmediate(killSelf);
      return isIt && moment === 'after' ? Promise.resolve(reply).finally(killSelf) : reply;
    });
  }
}

if (engine === 'postgres' && 'connect' in client && typeof client.connect === 'function') {
  const connect = client.connect.bind(client);
  Reflect.set(client, 'connect', async (...args: unknown[]) => {
    const lent: unknown = await connect(...args);
    if (typeof lent === 'object' && lent !== null) watch(lent, ['query']);
    return lent;
  });
} else watch(client, ['evalsha', 'evalSha']);

await store.transact(['a', 'b'], (records) => {
  for (const key of ['a', 'b']) records.set(key, Number(records.get(key) ?? 0) + 1);
});
// The call was never made.
process.send?.('done');
await close();
