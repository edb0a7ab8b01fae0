import { memoryStore } from '../../../src/store/memory-store.ts';

/** Records in memory, which stay when the program has ended: its handlers go on. */
export const sqliteStore = (_options: unknown) => ({ ...memoryStore(), close: async () => {} });
