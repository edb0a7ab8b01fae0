import type { RequestListener } from 'node:http';

/** What the suite needs of a runtime beyond what all of them have. */
export interface Platform {
  /** A folder for files, where `node:sqlite` is expected to work; `undefined` where it is not there. */
  readonly sqliteFolder: string | undefined;
  /** Puts a listener of node:http to work. */
  readonly serve: (listener: RequestListener) => Promise<Transport>;
}

/** A way to a handler of HTTP requests. */
export interface Transport {
  /** What requests have to be addressed to. */
  readonly url: string;
  readonly send: (request: Request) => Promise<Response>;
  readonly close: () => Promise<void>;
}
