import type { Page } from './page-html.ts';

const common = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Of everything but the page. */
const apiHeaders: Readonly<Record<string, string>> = {
  ...common,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Adds what every answer has, unless it has its own. */
export function withApiHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(apiHeaders)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return response;
}

/** The page runs its one script and its one style sheet, and talks to nobody but this server. */
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
    // Text of strangers can only become text: no script may write HTML.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    ...common,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
  };
}
