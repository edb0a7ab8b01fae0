/**
 * A process that changes the keys in a file, for tests that run several or kill one. Arguments: the path, what to do, a
 * number.
 *
 * - `count`: adds one to the number in the record, this many times.
 * - `receive`: receives generation 2, and kills itself before the call of SQLite with this number.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { operateMethods } from '../chaos/fail-each.ts';
import { generation } from '../credentials/keys.ts';

const [path = '', what, number] = process.argv.slice(2);

if (what === 'receive') {
  let calls = 0;
  const operate = <Result>(operation: () => Result): Result => {
    if (calls++ === Number(number)) process.kill(process.pid, 'SIGKILL');
    return operation();
  };
  operateMethods(DatabaseSync.prototype, ['exec', 'prepare', 'close'], operate);
  operateMethods(StatementSync.prototype, ['run', 'get', 'all'], operate);
}
const store = sqliteStore({ path });
const storage = storedKeys({ store });
if (what === 'receive') await createKeyRotation({ storage }).receive(generation(2));
else
  for (let round = 0; round < Number(number); round++)
    await storage.update((text) => String(Number(text ?? 0) + 1));
await store.close();
