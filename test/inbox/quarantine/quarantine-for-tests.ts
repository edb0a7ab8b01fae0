import { createHash } from 'node:crypto';
import type { Quarantine, UnverifiedText } from '../../../src/inbox/quarantine/quarantine.ts';
import {
  type RecordQuarantineOptions,
  recordQuarantine,
} from '../../../src/inbox/quarantine/record-quarantine.ts';
import { memoryStore } from '../../../src/store/memory-store.ts';
import type { RecordStore } from '../../../src/store/record-store.ts';

export const day = 86_400_000;

export const quarantineOptions = {
  prefix: 'inbox/',
  quarantineMs: day,
  maxQuarantined: 100,
  storeTimeoutMs: 60_000,
  checkReceives: () => {},
};

/** A quarantine, and the store below it. `change` replaces functions of the store for the quarantines over it. */
export function setUp(
  options: Partial<RecordQuarantineOptions> = {},
  change: (store: RecordStore) => Partial<RecordStore> = () => ({}),
) {
  const clock = { time: 1_700_000_000_000 };
  const now = () => clock.time;
  const store = memoryStore({ now });
  const changed = { ...store, ...change(store) };
  const open = (others: Partial<RecordQuarantineOptions> = {}, opened: RecordStore = changed) =>
    recordQuarantine(opened, {
      ...quarantineOptions,
      now,
      ...options,
      ...others,
    });
  const quarantine = open();
  return {
    clock,
    store,
    open,
    quarantine,
    keep: (body: string, partners = 'P') => keepIn(quarantine, body, partners),
  };
}

export function keepIn(quarantine: Quarantine, body: string, partners = 'P') {
  return quarantine.keep({ digest: digestOf(partners + body), body, partners });
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

export const bodiesOf = (kept: readonly UnverifiedText[]) => kept.map(({ body }) => body);
export const all = { limit: 300 };
