import { expect, it } from 'vitest';
import { statusesOf } from '../../../../src/devtools/diagnostics/attack/raw-connection.ts';

const plain = (status: number, body = '') =>
  `HTTP/1.1 ${status} Reason\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

it.each<[string, string, readonly number[]]>([
  ['nothing', '', []],
  ['half a line', 'HTTP/1.1 20', []],
  ['one answer', plain(200, 'received'), [200]],
  ['two answers, one right behind the body of the other', plain(401, 'no') + plain(200), [401, 200]],
  ['a body that quotes an answer', plain(401, 'HTTP/1.1 200 OK\r\n\r\n'), [401]],
  ['100 Continue before the answer', `HTTP/1.1 100 Continue\r\n\r\n${plain(401)}`, [401]],
  ['a body without an end, which quotes one', 'HTTP/1.0 400 Bad\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', [400]],
  [
    'a body in chunks',
    `HTTP/1.1 401 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n${plain(200)}`,
    [401, 200],
  ],
  [
    'an empty body in chunks',
    `HTTP/1.1 401 No\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${plain(200)}`,
    [401, 200],
  ],
])('the statuses of a connection are read from %s', (_, received, statuses) => {
  expect(statusesOf(received)).toEqual(statuses);
});
