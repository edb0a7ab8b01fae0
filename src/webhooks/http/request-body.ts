import type { RequestRefusalCode } from '../outcome.ts';

/** Why a request is refused before its body is verified. */
export interface RequestRefusal {
  readonly refusal: RequestRefusalCode;
  /** What the operator can do about it, if we know more than the code says. */
  readonly advice?: string | undefined;
}

/** A body as received, or why it is missing. */
export type RequestBody = { readonly body: string | Uint8Array } | RequestRefusal;
