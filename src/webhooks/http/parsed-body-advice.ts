/** How to get the raw bytes from each framework. */
const remedies = {
  express:
    'Express: mount webhooks.node before express.json(), or give its route express.raw({ type: "*/*" }), or keep ' +
    'the bytes with express.json({ verify: (request, response, bytes) => { request.rawBody = bytes } }).',
  nest: 'NestJS: NestFactory.create(AppModule, { rawBody: true }).',
  fastify: 'Fastify: app.register(fastifyPlugin(webhooks, { path })), whose scope has no body parsers.',
  nextPages: 'Next.js, pages/api: export const config = { api: { bodyParser: false } }.',
  hono: 'Hono: webhooks.fetch(c.req.raw) before anything calls c.req.json(), as validators do.',
  nextRoute:
    'Next.js, route handlers: webhooks.fetch(request) before request.json(); the same for middleware.',
} as const;

/** Advice for a body that was parsed before `webhooks.node`, by what the request shows of its framework. */
export function nodeBodyAdvice(request: object): string {
  const { express, nest, fastify, nextPages } = remedies;
  // NestJS is built on one of these two and cannot be told from them.
  if ('app' in request && 'res' in request) return advise([express, nest]);
  if ('raw' in request && 'server' in request) return advise([fastify, nest]);
  if ('previewData' in request) return advise([nextPages]);
  return advise([express, nest, fastify, nextPages]);
}

/** The same for `webhooks.fetch`: a Request does not show its framework. */
export const fetchBodyAdvice = advise([remedies.hono, remedies.nextRoute]);

function advise(applicable: readonly string[]): string {
  return applicable.join(' ');
}
