/** `partner-exchange-sdk/store` with records in memory, which stay when the program has ended: its handlers go on. */
import { memoryStore } from '../../../src/store/memory-store.ts';

export * from '../../../src/store/index.ts';

const lasting = () => ({ ...memoryStore(), close: async () => {} });
export const sqliteStore = (_options: unknown) => lasting();
export const postgresStore = (_options: unknown) => lasting();
