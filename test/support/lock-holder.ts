import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { listeningPort } from './listening.ts';

/**
 * A process of its own that takes the write lock of a database when it is told to, until it is told otherwise. It is also
 * a service that takes every order, after some milliseconds.
 */
const [path = '', answerAfterMs = '0'] = process.argv.slice(2);
const database = new DatabaseSync(path);
database.exec('PRAGMA busy_timeout = 5000');

process.on('message', (message) => {
  database.exec(message === 'hold' ? 'BEGIN IMMEDIATE' : 'ROLLBACK');
  process.send?.({ said: message });
});
process.on('disconnect', () => process.exit());

let requests = 0;
const server = createServer((request, response) => {
  request.resume();
  process.send?.({ said: 'request', requests: ++requests });
  // real time: the service answers as late as the test asked for.
  setTimeout(() => {
    response.setHeader('content-type', 'application/json');
    response.end('{"ok":true}');
  }, Number(answerAfterMs));
});
process.send?.({ said: 'ready', port: await listeningPort(server) });
