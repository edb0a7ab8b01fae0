import type { EventFaultName } from '../../../../src/devtools/sandbox/settings/event-faults.ts';

/** The faults that change the form of an event, which `reshaped-events.test.ts` tries. */
export const reshapingFaults = [
  'member_missing',
  'member_null',
  'member_type',
  'member_renamed',
  'member_nested',
  'member_long',
  'member_repeated',
  'status_respelled',
  'name_respelled',
  'sell_side',
] as const satisfies readonly EventFaultName[];
