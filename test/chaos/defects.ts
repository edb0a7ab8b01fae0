/** A defect that is planted into the product as it is loaded: one expression becomes another. */
export interface Defect {
  readonly name: string;
  /** Below `src`. */
  readonly file: string;
  /** Occurs once: a change of the product that removes it fails loudly. */
  readonly find: string;
  readonly replace: string;
}

const leases = 'inbox/store/delivery-leases.ts';
const guard = 'inbox/queue/delivery-guard.ts';
const queue = 'inbox/queue/queue-inbox.ts';
const transitions = 'orders/transitions.ts';

/** Each is found by the world, or the world has a hole: `npm run chaos -- --prove`. */
export const defects: readonly Defect[] = [
  {
    name: 'a repetition is stored again',
    file: 'inbox/store/delivery-records.ts',
    find: "if (refuseNewer(records.get(key), 'The delivery') !== undefined) return 'duplicate';",
    replace: '',
  },
  {
    name: 'a lease that was lost is ended all the same',
    file: leases,
    find: 'if (stored?.lease?.token !== token || stored.index !== from) return false;',
    replace: 'if (stored === undefined) return false;',
  },
  {
    name: 'a handled delivery keeps its body',
    file: 'inbox/store/delivery-table.ts',
    find: 'records.set(keyOf(digest), handledRecord, { expiresAt });',
    replace:
      'records.set(keyOf(digest), { ...Object(records.get(keyOf(digest))), ...handledRecord }, { expiresAt });',
  },
  {
    name: 'attempts are not counted',
    file: leases,
    find: 'attempts: stored.attempts + 1, index: indexOf(entry.digest), lease }',
    replace: 'attempts: stored.attempts, index: indexOf(entry.digest), lease }',
  },
  {
    name: 'a lease ends after a second',
    file: leases,
    find: 'const take = (now: number) => takeLease({ now, leaseMs, processes });',
    replace: 'const take = (now: number) => takeLease({ now, leaseMs: 1_000, processes });',
  },
  {
    name: 'a start frees the leases of processes that live',
    file: leases,
    find: '|| !processes.hasEnded(stored.lease.holder)',
    replace: '',
  },
  {
    name: 'the index is read by another clock',
    file: leases,
    find: 'findDue({ limit, now: now(), longestWaitMs })',
    replace: 'findDue({ limit, now: performance.now(), longestWaitMs })',
  },
  {
    name: 'what was written before the clock went back is not looked for',
    file: 'store/time-index.ts',
    find: 'const early = late.filter(({ value }) => isAhead(value.writtenAt, now));',
    replace: 'const early = late.slice(0, 0);',
  },
  {
    name: 'nobody looks at the lease before the handler',
    file: 'inbox/handling-attempt.ts',
    find: "if (leftMs <= 0) return { outcome: 'put-back', delayMs: 0 };",
    replace: '',
  },
  {
    name: 'a handler has no time limit',
    file: 'inbox/handling-attempt.ts',
    find: 'handleWithin(leftMs, options.signal',
    replace: 'handleWithin(2 ** 30, options.signal',
  },
  {
    name: 'a handler past its time is not aborted',
    file: 'internal/deadline.ts',
    find: 'controller.abort(reason);',
    replace: '',
  },
  {
    name: 'what nobody can read is ignored',
    file: 'inbox/handling-attempt.ts',
    find: '    // Another attempt ends in the same way.\n',
    replace: "    if (isUnrecognizedError(error)) return { outcome: 'ignored', ...timings() };\n",
  },
  {
    name: 'a worker handles more than it may at once',
    file: 'inbox/worker.ts',
    find: 'Math.min(concurrency - running.size, limit - started)',
    replace: 'Math.min(concurrency, limit - started)',
  },
  {
    name: 'a drain that was cut off says handled',
    file: 'inbox/store/drain.ts',
    find: 'await worker?.stop(0);',
    replace: 'await worker?.stop(0); figures.handled++;',
  },
  {
    name: 'a delivery is acknowledged before it is stored',
    file: 'inbox/store/store-inbox.ts',
    find: 'const result = await records.insert(delivery);',
    replace: "const result = 'stored';\n      records.insert(delivery).catch(() => {});",
  },
  {
    name: 'a message is acknowledged before the queue has it',
    file: queue,
    find: 'await call(async () => settings.send(',
    replace: 'call(async () => settings.send(',
  },
  {
    name: 'a message is remembered before the queue has it',
    file: queue,
    find: 'await call(async () => settings.send(',
    replace: 'await guard?.remember(delivery);\n      await call(async () => settings.send(',
  },
  {
    name: 'a message that another consumer has is done',
    file: queue,
    find: "if (claim === 'busy') return 'retry';",
    replace: "if (claim === 'busy') return 'done';",
  },
  {
    name: 'a consumer judges a lease by its own time limit',
    file: guard,
    find: 'isHeld(lease, { now: at })',
    replace: 'lease.takenAt + leaseMs > at',
  },
  {
    name: 'a consumer ends a lease that is not its own',
    file: guard,
    find: 'if (guard?.lease?.token !== claim.token) return;',
    replace: '',
  },
  {
    name: 'a consumer writes handled before it handles',
    file: guard,
    find: 'attempts: isAlone',
    replace: 'handled: true, attempts: isAlone',
  },
  {
    name: 'a message whose process died runs beside others',
    file: guard,
    find: "if ((lease !== undefined || seen.alone === true) && !isAlone) return 'alone';",
    replace: '',
  },
  {
    name: 'a name that becomes known changes the digest',
    file: 'credentials/verification-keys.ts',
    find: "const partner = nameText(origin) ?? '';",
    replace: "const partner = nameText(names) ?? '';",
  },
  {
    name: 'while keys are awaited a mismatch is a forgery',
    file: 'credentials/create-key-ring.ts',
    find: 'if (awaited === true) {',
    replace: 'if (awaited === null) {',
  },
  {
    name: 'during the cool-down a mismatch is a forgery',
    file: 'credentials/create-key-ring.ts',
    find: 'if (!isAtOnce && this.#loading === undefined && this.#cooldownLeft() > 0) throw this.#notReadAgain();',
    replace: 'if (!isAtOnce && this.#loading === undefined && this.#cooldownLeft() > 0) return;',
  },
  {
    name: 'received keys do not verify before they are promoted',
    file: 'keys/create-key-rotation.ts',
    find: 'verifying: generations.map(',
    replace: 'verifying: generations.filter((one) => one !== pending).map(',
  },
  {
    name: 'replaced keys are thrown away',
    file: 'keys/rotation-steps.ts',
    find: 'retired: [...replaced, ...kept],',
    replace: 'retired: kept,',
  },
  {
    name: 'an order is sent while another process sends it',
    file: transitions,
    find: "if (state === 'sending') throw orderError('in_progress', record, { now });\n    if (state === 'unknown'",
    replace: "if (state === 'unknown'",
  },
  {
    name: 'an order whose outcome is unknown is sent again',
    file: transitions,
    find: "if (state === 'unknown' && !resendUnknown) throw orderError('outcome_unknown', record, { now });",
    replace: '',
  },
  {
    name: 'the loop leaves what was not sent',
    file: 'orders/order-loop.ts',
    find: "if (state === 'unknown') return undefined;",
    replace: "if (state !== 'waiting') return undefined;",
  },
  {
    name: 'a caller does not hear why an order is not accepted',
    file: 'orders/order-journal.ts',
    find: "const error = made.kind === 'denied' ? made.error : (failure as Error | undefined);",
    replace: 'const error = undefined;',
  },
  {
    name: 'an event is no evidence of its order',
    file: transitions,
    find: "return { ...compared, record: accept(before, 'event', rules.now) };",
    replace: 'return { ...compared, record };',
  },
  {
    name: 'an event is not compared with its order',
    file: 'orders/event-comparison.ts',
    find: 'const differences = differencesFrom(event ?? body, order);',
    replace: 'const differences = [];',
  },
  {
    name: 'a payload changes under one id',
    file: transitions,
    find: 'if (replace && unsentStates.has(',
    replace: 'if (unsentStates.has(',
  },
  {
    name: 'a 429 ends an order',
    file: 'orders/order-attempts.ts',
    find: 'if (status === 429) return',
    replace: "if (code === 'http_error' && status === 0) return",
  },
  {
    name: 'a decision covers later events',
    file: 'orders/event-comparison.ts',
    find: 'isUndecided(event) && digests.includes(event.digest) ?',
    replace: 'isUndecided(event) ?',
  },
  {
    name: 'a chain is looked up with regard to case',
    file: 'deployment/addresses/address-forms.ts',
    find: 'chain.toLowerCase().split(',
    replace: 'chain.split(',
  },
  {
    name: 'a refusal outweighs an earlier request without a reply',
    file: transitions,
    find: "const state = unresolved.length > 0 ? 'unknown' : answer;",
    replace: 'const state = answer;',
  },
  {
    name: 'a request is repeated though it may have arrived',
    file: 'client/send-call.ts',
    find: "return call.repeat === 'always' || error.outcome === 'not-sent';",
    replace: 'return true;',
  },
  {
    name: 'a denial with 200 counts as sent',
    file: 'deployment/message-reply.ts',
    find: 'body === false || isDenial(body) ?',
    replace: 'body === false ?',
  },
  {
    name: 'wrong guesses of a code are not counted',
    file: 'otp/check-code.ts',
    find: 'writeFlow(records, key, { ...flow, attempts });',
    replace: '',
  },
  {
    name: 'a code can be used twice',
    file: 'otp/check-code.ts',
    find: 'records.delete(key);\n        limits.confirm();',
    replace: 'limits.confirm();',
  },
];
