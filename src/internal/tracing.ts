import { tracingChannel } from 'node:diagnostics_channel';

/** What is known when the work begins, and what is added when it ends. */
export interface TracedWork<Message extends object, Result> {
  /** What subscribers get at the start. Never an id, a key, a phone number or a body. */
  start(): Message;
  /** What the result adds. */
  result(result: Result): Partial<Message>;
  /** What a failure adds; `code` also becomes the message of the error that subscribers get. */
  failure(error: unknown): Partial<Message> & { readonly code: string };
}

/** The channels on which the package publishes traces. */
const channels = {
  call: tracingChannel('partner-exchange:call'),
  delivery: tracingChannel('partner-exchange:delivery'),
  handle: tracingChannel('partner-exchange:handle'),
};

/**
 * Runs work under a tracing channel of `node:diagnostics_channel`. Without subscribers only the work runs.
 *
 * Subscribers never see the result or the error itself, which hold bodies and ids: they get one message for the whole
 * trace, and an error that names its code.
 *
 * @param run gets the message, which subscribers may have changed at the start; `undefined` without subscribers
 */
export function traced<Message extends object, Result>(
  name: keyof typeof channels,
  work: () => TracedWork<Message, Result>,
  run: (message?: Message) => Promise<Result>,
): Promise<Result> {
  const channel = channels[name];
  return isHeard(channel) ? publish(channel, work(), run) : run();
}

type Channel = (typeof channels)[keyof typeof channels];

/** Not every runtime has `hasSubscribers` of a tracing channel. */
function isHeard({ start, end, asyncStart, asyncEnd, error }: Channel): boolean {
  return (
    start.hasSubscribers ||
    asyncEnd.hasSubscribers ||
    end.hasSubscribers ||
    asyncStart.hasSubscribers ||
    error.hasSubscribers
  );
}

async function publish<Message extends object, Result>(
  channel: Channel,
  { start, result, failure }: TracedWork<Message, Result>,
  run: (message: Message) => Promise<Result>,
): Promise<Result> {
  const message = start();
  let end = (): Result => {
    throw new TypeError('The traced work has not ended.');
  };
  const work = async () => {
    try {
      const value = await run(message);
      Object.assign(message, result(value));
      end = () => value;
    } catch (error) {
      const described = failure(error);
      Object.assign(message, described);
      end = () => {
        throw error;
      };
      throw new Error(described.code);
    }
  };
  await channel.tracePromise(work, message).catch(() => {});
  return end();
}

/** A trace context as W3C Trace Context writes it. */
const traceparentPattern = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The trace context in a value that anybody may have sent; `undefined` if it is malformed. */
export function readTraceparent(value: unknown): string | undefined {
  return typeof value === 'string' && traceparentPattern.test(value) ? value : undefined;
}
