import type { RequestListener } from 'node:http';

/** What the suite needs of a runtime beyond what all of them have. */
export interface Platform {
  /** A folder for files, where `node:sqlite` is expected to work; `undefined` where it is not there. */
  readonly sqliteFolder: string | undefined;
  /** Started by run-runtimes.ts, on Node: what they do is not the runtime's own doing. */
  readonly servers: Servers;
  /** Puts a listener of node:http to work. */
  readonly serve: (listener: RequestListener) => Promise<Transport>;
}

/** Addresses of servers that record what they receive. */
export interface Servers {
  readonly http: string;
  /** `undefined` where the runtime does not trust its certificate. */
  readonly http2?: string | undefined;
}

/** A way to a handler of HTTP requests. */
export interface Transport {
  /** What requests have to be addressed to. */
  readonly url: string;
  readonly send: (request: Request) => Promise<Response>;
  readonly close: () => Promise<void>;
}
