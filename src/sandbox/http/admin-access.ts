/** Where the sandbox answers about itself: the inspector and its API. */
export const adminPath = '/_sandbox/';

/** Answers what is under {@link adminPath}. Never rejects. */
export type ServeAdmin = (request: Request, connection: { ip: string }) => Promise<Response>;

export interface AdminAccess {
  /** What requests that change something have to carry. */
  readonly token: string;
  /** Whose requests are answered. */
  readonly from: 'loopback' | 'any';
}
