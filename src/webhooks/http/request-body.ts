import type { RequestRefusalCode } from '../outcome.ts';

/** Why a request is refused before its body is looked at. */
export interface RequestRefusal {
  readonly refusal: RequestRefusalCode;
  /** What the operator can do about it, where more is known than the code says. */
  readonly advice?: string | undefined;
}

/** A body as received, or why there is none. */
export type RequestBody = { readonly body: string | Uint8Array } | RequestRefusal;
