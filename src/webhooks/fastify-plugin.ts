import { defineOptions, invalidOption, type OptionTable } from '../internal/options.ts';
import type { Webhooks } from './create-webhooks.ts';
import type { NodeRequest, NodeResponse } from './node-handler.ts';

/** The parts of a Fastify instance that we use. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown;
  addHook(name: 'onRequest', hook: (request: { headers: object }) => Promise<void>): unknown;
  addContentTypeParser(
    contentType: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  all(
    path: string,
    handler: (
      request: { readonly raw: NodeRequest },
      reply: { readonly raw: NodeResponse; hijack(): unknown },
    ) => Promise<void>,
  ): unknown;
}

/** Options of {@link fastifyPlugin}. */
export interface FastifyPluginOptions {
  /** Where the webhooks are mounted; begins with `/`. */
  readonly path: string;
}

const readOptions = defineOptions('fastifyPlugin', {
  path: (path) => {
    if (typeof path === 'string' && path.startsWith('/')) return path;
    throw invalidOption('path must be text that begins with "/".');
  },
} satisfies OptionTable<FastifyPluginOptions>);

/**
 * The webhooks as a Fastify plugin. Its scope has no body parsers, so the bytes stay as received, of any content type;
 * the parsers of the rest of the application are not changed.
 *
 * @throws {ConfigurationError} `invalid_option`
 * @example
 * ```ts
 * await app.register(fastifyPlugin(webhooks, { path: '/orders' }));
 * ```
 */
export function fastifyPlugin(
  webhooks: Pick<Webhooks, 'node'>,
  options: FastifyPluginOptions,
): (scope: FastifyScope) => Promise<void> {
  if (typeof webhooks?.node !== 'function') {
    throw invalidOption('fastifyPlugin needs what createWebhooks returns.');
  }
  const { path } = readOptions(options);
  return async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    // Fastify itself answers 415 to a content type that is no media type. What `webhooks.node` reads stays as sent.
    scope.addHook('onRequest', async (request) => {
      request.headers = { 'content-type': 'application/octet-stream' };
    });
    scope.all(path, async (request, reply) => {
      reply.hijack();
      await webhooks.node(request.raw, reply.raw);
    });
  };
}
