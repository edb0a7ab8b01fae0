import type { IncomingHttpHeaders } from 'node:http';

/** The origin that a request is meant for; `undefined` if it is not one of this server's. */
export type HostCheck = (headers: IncomingHttpHeaders) => string | undefined;

/**
 * Accepts requests that address the server by one of these names, and those of web pages only from the same origin.
 * Otherwise any web page could reach a server on its visitor's machine (DNS rebinding).
 */
export function hostCheck(names: readonly string[]): HostCheck {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return ({ host = '', origin }) => {
    const called = `http://${host}`;
    // Only a name and a port: anything else would end up in the links of the mails.
    if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(called)) return undefined;
    if (!known.has(new URL(called).hostname)) return undefined;
    return origin === undefined || origin === called ? called : undefined;
  };
}
