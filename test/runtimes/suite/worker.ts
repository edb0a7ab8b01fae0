/** For workerd: GET answers with the report, POST is a delivery to a receiver that all requests share. */
import { handleAsNodeRequest } from 'cloudflare:node';
import { createServer } from 'node:http';
import { Checks } from './checks.ts';
import type { Platform } from './platform.ts';
import { runSuite } from './run-suite.ts';
import { answer } from './shared-receivers.ts';

let port = 8000;

const platform: Omit<Platform, 'servers'> = {
  sqliteFolder: undefined,
  async serve(listener) {
    const server = createServer(listener);
    server.listen(++port);
    const here = port;
    return {
      url: 'http://partner.example/orders',
      send: (request) => handleAsNodeRequest(here, request),
      close: () => new Promise((resolve) => server.close(() => resolve())),
    };
  },
};

export default {
  async fetch(request: Request): Promise<Response> {
    if (request.method !== 'GET') return await answer(request);
    const checks = new Checks();
    const http = new URL(request.url).searchParams.get('http') ?? '';
    await runSuite(checks, { ...platform, servers: { http } });
    return Response.json(checks.report());
  },
};
