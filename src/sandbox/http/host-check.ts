import type { IncomingHttpHeaders } from 'node:http';

/** The origin that a request is meant for; `undefined` when that is none of this server's. */
export type HostCheck = (headers: IncomingHttpHeaders) => string | undefined;

/**
 * Lets requests in that call the server by one of these names, and of those that a web page makes only the page's own.
 * Otherwise any page could reach a server on the machine of whoever looks at it (DNS rebinding).
 */
export function hostCheck(names: readonly string[]): HostCheck {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return ({ host = '', origin }) => {
    const called = `http://${host}`;
    // Only a name and a port: whatever else stood there would end up in the links of the mails.
    if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(called)) return undefined;
    if (!known.has(new URL(called).hostname)) return undefined;
    return origin === undefined || origin === called ? called : undefined;
  };
}
