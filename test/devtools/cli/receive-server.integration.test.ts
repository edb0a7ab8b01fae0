import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { jsonAnswer } from '../../../src/devtools/cli/commands/listen/handle-request.ts';
import { startReceiveServer } from '../../../src/devtools/cli/commands/listen/receive-server.ts';

it('listen answers 408 to a body that does not arrive, and closes the connection', async () => {
  const server = await startReceiveServer({
    port: 0,
    host: '127.0.0.1',
    allowedHosts: [],
    now: Date.now,
    requestTimeoutMs: 100,
    receive: async () => jsonAnswer(200, {}),
  });
  onTestFinished(() => server.close('at once'));
  const { hostname, port, host } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.setEncoding('latin1');
  socket.write(`POST / HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 50\r\n\r\nhalf`);
  let answer = '';
  for await (const part of socket) answer += part;
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});
