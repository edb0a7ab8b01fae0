/**
 * The errors of Node's fetch (undici) for connections that break, so that a client sees in one process what it sees over
 * a socket. The seed is in the cause's message, which ends up in the message of a failed test.
 */
export function connectionReset(seed: string): TypeError {
  const cause = Object.assign(new Error(`read ECONNRESET (sandbox seed ${seed})`), {
    errno: -104,
    code: 'ECONNRESET',
    syscall: 'read',
  });
  return new TypeError('fetch failed', { cause });
}

/** The peer closed the connection before a reply (`fetch failed`) or within its body (`terminated`). */
export function connectionClosed(message: 'fetch failed' | 'terminated', seed: string): TypeError {
  const cause = Object.assign(new Error(`other side closed (sandbox seed ${seed})`), {
    name: 'SocketError',
    code: 'UND_ERR_SOCKET',
  });
  return new TypeError(message, { cause });
}
