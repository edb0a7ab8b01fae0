/** The service that the clients call, in a process of its own: started by client.ts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const answer = '{"status":"ok","platform_order_ref":"REF-000001"}';
const head = { 'content-type': 'application/json', 'content-length': String(answer.length) };

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.on('end', () => response.writeHead(200, head).end(answer)).resume();
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  // Sound: it listens on a port.
  process.send?.((server.address() as AddressInfo).port);
});
