/**
 * The state of an order in a journal.
 *
 * - `prepared`: to be sent; no request was made.
 * - `sending`: a process is sending it.
 * - `accepted`: the service has it.
 * - `refused`: the service said that it did not take it.
 * - `waiting`: the service refused it under keys that are being replaced, or wants fewer requests; it is sent again.
 * - `not-sent`: no request reached the service.
 * - `unknown`: a request was made, and nothing tells yet whether the service has it.
 * - `abandoned`: a person decided that there is no such order.
 *
 * @useDeclaredType
 */
export type OrderState = (typeof orderStates)[number];

export const orderStates = [
  'prepared',
  'sending',
  'accepted',
  'refused',
  'waiting',
  'not-sent',
  'unknown',
  'abandoned',
] as const;
