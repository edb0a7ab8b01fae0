/** How a reply reaches the caller. */
export type Transport =
  | { readonly kind: 'whole' }
  /** Reset (TCP RST), without a byte. */
  | { readonly kind: 'reset' }
  /** Closed, without a byte. */
  | { readonly kind: 'close' }
  /** Nothing comes, and the connection stays open. */
  | { readonly kind: 'stall' }
  /** The head, which says a greater length, some bytes of the body, and the end of the connection. */
  | { readonly kind: 'truncate'; readonly bytes: number }
  | { readonly kind: 'trickle'; readonly bytes: number; readonly delayMs: number }
  | { readonly kind: 'gzip' };

/** A reply as it goes over the wire. */
export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly transport: Transport;
}

const whole: Transport = { kind: 'whole' };

/** A reply that arrives whole. */
export async function wireReply(response: Response): Promise<WireReply> {
  const { status, headers } = response;
  return { status, headers, body: new Uint8Array(await response.arrayBuffer()), transport: whole };
}
