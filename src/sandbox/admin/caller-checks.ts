import { Refusal } from '../http/refusal.ts';
import { requireSameSecret } from '../secrets.ts';

/** Refuses requests that a page of another origin has made. Its Origin is checked before; not all requests have one. */
export function requireOwnPage(request: Request, { isPage }: { isPage: boolean }): void {
  const site = request.headers.get('sec-fetch-site') ?? 'none';
  if (site === 'same-origin' || site === 'none') return;
  // Following a link to the page is harmless: it does nothing without the token.
  if (isPage && request.headers.get('sec-fetch-mode') === 'navigate') return;
  throw new Refusal(403, 'foreign_page', 'Pages of other origins are not answered here.');
}

/** Refuses requests without the token in their header. */
export function requireToken(request: Request, token: string): void {
  const [, presented] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
  const refusal = new Refusal(
    401,
    presented === undefined ? 'token_missing' : 'token_wrong',
    'This needs the header "Authorization: Bearer" with the token that listen() returned.',
    { 'www-authenticate': 'Bearer' },
  );
  if (presented === undefined) throw refusal;
  requireSameSecret(presented, token, refusal);
}

export function isLoopback(ip: string): boolean {
  return /^(?:::ffff:)?127\.|^::1$/i.test(ip);
}
