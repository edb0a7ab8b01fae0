import { ConfigurationError } from '../../errors/configuration-error.ts';
import { orderNumber } from '../orders/order-registry.ts';
import type { SandboxState } from '../sandbox-state.ts';

/** What a store holds about the sandbox as a whole. */
interface Facts {
  /** Of the form of the records. */
  readonly version: number;
  /** How often it was opened before: each time its keys come from another stream of the seed. */
  readonly runs: number;
  readonly masterKey: string;
}

const version = 1;

/** Fills a new sandbox with what its store holds, and writes down that it was opened. */
export async function restoreState(state: SandboxState): Promise<void> {
  const { data, options, partners, orders, messenger, whitelist } = state;
  const records = await data.read();
  // Sound: the sandbox wrote these records; their version is checked.
  const facts = records.find(({ key }) => key === 'facts')?.value as Facts | undefined;
  if (facts !== undefined && facts.version !== version) {
    throw new ConfigurationError('invalid_option', 'data was written by another version of the sandbox.');
  }
  const restored: { ref: string; value: object }[] = [];
  for (const { key, value } of records) {
    // Sound: every record of the sandbox is an object.
    const record = value as object;
    // Sound: as above.
    const captured = key.startsWith('ip/') ? (value as { ip: string }).ip : undefined;
    if (key.startsWith('order/')) restored.push({ ref: key.slice('order/'.length), value: record });
    else if (captured !== undefined) whitelist.add(captured);
    else if (key.startsWith('device/') || key.startsWith('message/')) messenger.restore(key, record);
    else partners.restore(key, record);
  }
  restored.sort((one, other) => orderNumber(one.ref) - orderNumber(other.ref));
  for (const { value } of restored) orders.restore(value);
  const runs = (facts?.runs ?? 0) + 1;
  if (facts !== undefined) state.beginRun(runs);
  if (facts !== undefined && options.isMasterKeyDrawn) state.masterKey = facts.masterKey;
  for (const partner of options.partners) partners.fix(partner);
  data.put('facts', { version, runs, masterKey: state.masterKey } satisfies Facts);
  await data.commit();
}
