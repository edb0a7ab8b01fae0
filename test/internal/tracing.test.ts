import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { afterEach, describe, expect, it } from 'vitest';
import { traced } from '../../src/internal/tracing.ts';

const channel = tracingChannel('partner-exchange:handle');
let unsubscribe = () => {};
afterEach(() => unsubscribe());

/** Every message of the channel, as it was when it was published. */
function listen(): [event: string, message: object][] {
  const seen: [string, object][] = [];
  const note = (event: string) => (message: object) => void seen.push([event, { ...message }]);
  const handlers = {
    start: note('start'),
    end: note('end'),
    asyncStart: note('asyncStart'),
    asyncEnd: note('asyncEnd'),
    error: note('error'),
  };
  channel.subscribe(handlers);
  unsubscribe = () => channel.unsubscribe(handlers);
  return seen;
}

interface Message {
  readonly action: string;
  readonly outcome?: string;
  readonly code?: string;
}

const work = () => ({
  start: (): Message => ({ action: 'check' }),
  result: (outcome: string): Partial<Message> => ({ outcome }),
  failure: () => ({ code: 'failed' }),
});

describe('a trace', () => {
  it('shows its beginning and its end in one message, without the result itself', async () => {
    const seen = listen();
    expect(await traced('handle', work, async () => 'accepted')).toBe('accepted');
    const end = { action: 'check', outcome: 'accepted', result: undefined };
    expect(seen).toEqual([
      ['start', { action: 'check' }],
      ['end', { action: 'check' }],
      ['asyncStart', end],
      ['asyncEnd', end],
    ]);
  });

  it('of work that fails shows a code, and the caller gets the error', async () => {
    const seen = listen();
    const failure = new Error('of +2348012345678');
    await expect(traced('handle', work, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(seen.map(([event]) => event)).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
    expect(seen.at(-1)?.[1]).toMatchObject({ code: 'failed', error: new Error('failed') });
  });

  it('runs the work in the context that a subscriber binds', async () => {
    const spans = new AsyncLocalStorage<string>();
    channel.start.bindStore(spans, () => 'a span');
    unsubscribe = () => channel.start.unbindStore(spans);
    expect(await traced('handle', work, async () => spans.getStore() ?? 'none')).toBe('a span');
    expect(spans.getStore()).toBeUndefined();
  });

  it('costs nothing unheard: no message is made', async () => {
    const described = () => {
      throw new Error('It was described.');
    };
    expect(await traced('handle', described, async (message) => message)).toBeUndefined();
  });
});
