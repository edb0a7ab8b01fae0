import { Refusal } from '../wire/requests.ts';
import type { Page } from './page.ts';

/** Refuses requests of other origins' pages. Their Origin was checked before, but not every request has one. */
export function requireOwnPage(request: Request, { isPage }: { isPage: boolean }): void {
  const site = request.headers.get('sec-fetch-site') ?? 'none';
  if (site === 'same-origin' || site === 'none') return;
  // A link to the page is harmless: the page does nothing without the token.
  if (isPage && request.headers.get('sec-fetch-mode') === 'navigate') return;
  throw new Refusal(403, 'foreign_page', 'Pages of other origins are not answered here.');
}

export function isLoopbackAddress(ip: string): boolean {
  return /^(?:::ffff:)?127\.|^::1$/i.test(ip);
}

const common = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

const apiHeaders: Readonly<Record<string, string>> = {
  ...common,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Adds the headers of every answer, unless it has its own. */
export function withApiHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(apiHeaders)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return response;
}

/** The page runs its own script and style sheet, and connects to this server alone. */
export function pageHeaders({ scriptHash, styleHash }: Page): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src '${scriptHash}'`,
    `style-src '${styleHash}'`,
    "connect-src 'self'",
    // The icon is in the page.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // No script may write HTML, so untrusted text stays text.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    ...common,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
  };
}
