/** What can happen to a request on its way, besides what the service does to it. */
export const networkFaults = {
  refused: 'no connection',
  'reset-before': 'the connection ends before the request arrives',
  'reset-after': 'the connection ends before the answer arrives',
  slow: 'each way takes seconds',
  'dies-before': 'the process that is asked or asks dies before',
  'dies-after': 'the process that is asked or asks dies after',
} as const;

export type NetworkFault = keyof typeof networkFaults;

/** What can happen to a call of a store on another machine. */
export const storeFaults = {
  refused: 'nothing is written, and the caller is told',
  conflict: 'nothing is written, since others were faster',
  lost: 'it is written, and the answer is lost',
  slow: 'it takes seconds',
  'slow-answer': 'it is written at once, and the answer takes seconds',
  sleeps: 'it is written, and the process sleeps while the answer is on its way',
  full: 'there is no room for a change',
  repeated: 'the change runs twice',
  'dies-before': 'the process dies when it has asked',
  'dies-after': 'the process dies when it is written',
} as const;

export type StoreFault = keyof typeof storeFaults;

/** What can happen to a transaction of SQLite. */
export const sqliteFaults = {
  busy: 'another program has the file locked',
  full: 'the disk is full when it commits, so that nothing is written',
  slow: 'the disk takes seconds, and the event loop waits for it',
  'dies-before': 'the process dies before it is committed',
  'dies-after': 'the process dies when it is committed',
} as const;

export type SqliteFault = keyof typeof sqliteFaults;
