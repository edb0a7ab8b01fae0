import type { RequestRefusalCode } from '../outcome.ts';

/** A body as received, or why there is none. */
export type RequestBody = { readonly body: string | Uint8Array } | { readonly refusal: RequestRefusalCode };
