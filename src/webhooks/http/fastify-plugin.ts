import type { Webhooks } from '../create-webhooks.ts';
import type { NodeRequest } from './node-body.ts';
import type { NodeResponse } from './node-handler.ts';

/** The parts of a Fastify instance that are used. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    contentType: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  all(
    path: string,
    handler: (request: { readonly raw: NodeRequest }, reply: FastifyReplyParts) => Promise<void>,
  ): unknown;
}

/** The parts of a Fastify reply that are used. */
export interface FastifyReplyParts {
  readonly raw: NodeResponse;
  hijack(): unknown;
}

/**
 * The webhooks as a Fastify plugin. Its scope has no body parsers, so that the bytes stay as they came; those of the
 * rest of the application are not touched.
 *
 * @example
 * ```ts
 * await app.register(fastifyPlugin(webhooks, { path: '/orders' }));
 * ```
 */
export function fastifyPlugin(
  webhooks: Pick<Webhooks, 'node'>,
  { path }: { readonly path: string },
): (scope: FastifyScope) => Promise<void> {
  return async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.all(path, async (request, reply) => {
      reply.hijack();
      await webhooks.node(request.raw, reply.raw);
    });
  };
}
