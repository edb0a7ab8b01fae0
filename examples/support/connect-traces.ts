/** To take into your project: what the package publishes on its tracing channels, as OpenTelemetry spans. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';

const storage = new AsyncLocalStorage<Context>();

/**
 * Keeps the active span where the channels can set it, so that other spans (of fetch, of your database) become its
 * children. Give it to your SDK: `new NodeSDK({ contextManager })`.
 */
class ChannelContextManager implements ContextManager {
  active(): Context {
    return storage.getStore() ?? ROOT_CONTEXT;
  }

  with<Values extends unknown[], Run extends (...values: Values) => ReturnType<Run>>(
    active: Context,
    run: Run,
    self?: ThisParameterType<Run>,
    ...values: Values
  ): ReturnType<Run> {
    return storage.run(active, () => Reflect.apply(run, self, values));
  }

  bind<Target>(active: Context, target: Target): Target {
    if (typeof target !== 'function') return target;
    const run = (...values: unknown[]) => storage.run(active, () => Reflect.apply(target, undefined, values));
    return Object.assign(run, target);
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

export const contextManager: ContextManager = new ChannelContextManager();

/** What the package publishes: docs/details/webhooks.md lists the members of each channel. */
interface Message {
  traceparent?: string;
  readonly operation?: string;
  readonly method?: string;
  readonly urlTemplate?: string;
  readonly event?: string;
  readonly attempt?: number;
  readonly outcome?: string;
  readonly status?: number;
  readonly code?: string;
}

const spansOf = {
  call: { kind: SpanKind.CLIENT, nameOf: ({ operation }: Message) => `${operation}` },
  delivery: { kind: SpanKind.SERVER, nameOf: () => 'receive event' },
  handle: { kind: SpanKind.CONSUMER, nameOf: ({ event }: Message) => `handle ${event}` },
} as const;

/** Makes a span of every trace from now on. */
export function connectTraces(tracer: Tracer): void {
  for (const [name, { kind, nameOf }] of Object.entries(spansOf)) {
    const channel = tracingChannel<Context, Message>(`partner-exchange:${name}`);
    const spans = new WeakMap<Message, Span>();
    channel.start.bindStore(storage, (message) => {
      // A stored delivery is handled in the trace of its request, not in that of the call that woke the inbox.
      const parent = remoteParent(message.traceparent) ?? context.active();
      const span = tracer.startSpan(nameOf(message), { kind, attributes: attributesOf(message) }, parent);
      // The delivery carries this span on, so that its handling becomes a child.
      if (name === 'delivery') message.traceparent = traceparentOf(span);
      spans.set(message, span);
      return trace.setSpan(parent, span);
    });
    channel.asyncEnd.subscribe((message) => {
      const span = spans.get(Object(message));
      if (span === undefined) return;
      span.setAttributes(attributesOf(Object(message)));
      if (Object(message).code !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
  }
}

function attributesOf({ traceparent: _, ...message }: Message): Attributes {
  return {
    'partner_exchange.operation': message.operation,
    'partner_exchange.event.name': message.event,
    'partner_exchange.attempt': message.attempt,
    'partner_exchange.outcome': message.outcome,
    'http.request.method': message.method,
    'url.template': message.urlTemplate,
    'http.response.status_code': message.status,
    'error.type': message.code,
  };
}

/** The header that carries a span to another process. */
export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function remoteParent(traceparent: string | undefined): Context | undefined {
  const [, traceId, spanId, flags] = traceparent?.split('-') ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  const traceFlags = Number.parseInt(flags ?? '0', 16);
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
