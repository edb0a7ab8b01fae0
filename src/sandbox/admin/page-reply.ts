import { Refusal } from '../http/refusal.ts';
import { type Page, page } from './page-html.ts';
import { pageHeaders } from './security-headers.ts';

/** What the page shows: all of a sandbox, or what `listen` has received. */
export type PageSource = 'sandbox' | 'listen';

/** The inspector's page. */
export function pageReply(request: Request, source: PageSource): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw notAllowed(['GET']);
  if (page === undefined) {
    throw new Refusal(501, 'not_built', 'The page is made by the build, and these are the bare sources.');
  }
  return new Response(htmlFor(page, source), { headers: pageHeaders(page) });
}

/** The script, whose hash the policy names, reads from the document what it shows. */
function htmlFor({ html }: Page, source: PageSource): string {
  if (source === 'sandbox') return html;
  return html
    .replace('<title>Sandbox inspector</title>', '<title>Received events</title>')
    .replace('<body>', `<body data-source="${source}">`);
}

export function notAllowed(methods: readonly string[]): Refusal {
  const allow = methods.join(', ');
  return new Refusal(405, 'method_not_allowed', `Only ${allow} is answered here.`, { allow });
}
