import type { RequestRefusalCode } from '../outcome.ts';

/** The parts of a request's head that we check. */
export interface RequestHead {
  readonly method: string | undefined;
  header(name: 'content-type' | 'content-encoding' | 'content-length'): string | null | undefined;
}

/**
 * Refuses a request by its head: a method other than POST, a body that is not JSON or is compressed, a length beyond
 * the limit. A missing content type is accepted, since the contract promises none for notifications.
 */
export function checkHead(head: RequestHead, maxBodyBytes: number): RequestRefusalCode | undefined {
  if (head.method !== 'POST') return 'method_not_allowed';
  if (!isJson(head.header('content-type') ?? '')) return 'unsupported_media_type';
  const encoding = head.header('content-encoding') ?? '';
  if (encoding !== '' && encoding.toLowerCase() !== 'identity') return 'unsupported_media_type';
  if (Number(head.header('content-length') ?? 0) > maxBodyBytes) return 'body_too_large';
  return undefined;
}

function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const end = contentType.indexOf(';');
  const type = (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  return type === '' || type === 'application/json' || type === 'text/json' || type.endsWith('+json');
}
