/** A server's behaviour (recording-server.ts), and what may be told of a POST that met it. */
export interface SentOnceCase {
  readonly behaviour: string;
  /** `done`: there was a reply. Several where the runtimes differ. */
  readonly outcomes: readonly ('done' | 'refused' | 'unknown')[];
  readonly status?: number;
  /** With a body of more than 64 KiB. */
  readonly large?: true;
}

/** Over HTTP/1.1. Whatever the platform makes of it, the server gets the POST once. */
export const sentOnceCases: readonly SentOnceCase[] = [
  { behaviour: 'answer-200', outcomes: ['done'] },
  { behaviour: 'answer-307', outcomes: ['refused'], status: 307 },
  { behaviour: 'answer-408-and-close', outcomes: ['unknown'], status: 408 },
  { behaviour: 'answer-421', outcomes: ['refused'], status: 421 },
  { behaviour: 'answer-421-and-close', outcomes: ['refused'], status: 421 },
  { behaviour: 'close', outcomes: ['unknown'] },
  { behaviour: 'reset', outcomes: ['unknown'] },
  { behaviour: 'break-off-in-head', outcomes: ['unknown'] },
  { behaviour: 'answer-401-after-head', outcomes: ['refused'], status: 401 },
  { behaviour: 'close-after-head', outcomes: ['unknown'] },
  { behaviour: 'reset-after-head', outcomes: ['unknown'] },
  { behaviour: 'reset-in-body', outcomes: ['unknown'], large: true },
  // Node does not expect a 100 that it did not ask for.
  { behaviour: 'continue-then-answer', outcomes: ['done', 'unknown'] },
  { behaviour: 'continue-then-close', outcomes: ['unknown'] },
];

/** Over HTTP/2, where fetch speaks it. */
export const sentOnceCasesOfHttp2: readonly SentOnceCase[] = [
  { behaviour: 'answer-200', outcomes: ['done'] },
  { behaviour: 'answer-408', outcomes: ['unknown'], status: 408 },
  { behaviour: 'answer-421', outcomes: ['refused'], status: 421 },
  { behaviour: 'refuse-stream', outcomes: ['unknown'] },
  { behaviour: 'cancel-stream', outcomes: ['unknown'] },
  { behaviour: 'go-away', outcomes: ['unknown'] },
  { behaviour: 'close', outcomes: ['unknown'] },
];
