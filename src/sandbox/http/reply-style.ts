import type { SandboxOperation } from '../faults/fault-table.ts';
import type { ResolvedVariants } from '../service-variants.ts';
import { jsonReply } from './replies.ts';

/** Replies that reveal what nothing else does. */
const revealing: ReadonlySet<SandboxOperation> = new Set(['generateApiKey', 'openLink', 'signRequest']);

/** A reply in the form in which this deployment gives it (ledger: `replies`, `errors`). */
export async function styledReply(
  response: Response,
  operation: SandboxOperation | undefined,
  { replies, errorReplies }: ResolvedVariants,
): Promise<Response> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  // Also for what is no operation: such a service answers everything with 200.
  if (!response.ok) {
    if (errorReplies === 'status' || !isJson) return response;
    return jsonReply(200, { success: false, ...(await response.json()) });
  }
  if (replies === 'plain' || !isJson || operation === undefined || operation === 'openLink') return response;
  if (replies === 'wrapped') return jsonReply(200, { status: 'success', data: await response.json() });
  if (revealing.has(operation)) return response;
  const headers = { 'cache-control': 'no-store' };
  return replies === 'empty' ? new Response(null, { headers }) : new Response('OK', { headers });
}
