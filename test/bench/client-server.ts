/** The service that the clients call, in a process of its own: started by client.ts. */
import { createServer } from 'node:http';
import { listeningPort } from '../support/listening.ts';

const answer = '{"status":"ok","platform_order_ref":"REF-000001"}';
const head = { 'content-type': 'application/json', 'content-length': String(answer.length) };

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.on('end', () => response.writeHead(200, head).end(answer)).resume();
});
process.on('disconnect', () => process.exit());
process.send?.(await listeningPort(server));
