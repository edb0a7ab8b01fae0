/** The inspector: one HTML document, and the hashes that its Content-Security-Policy needs. */
export interface Page {
  readonly html: string;
  /** `sha256-…` of the one script. */
  readonly scriptHash: string;
  /** `sha256-…` of the one style sheet. */
  readonly styleHash: string;
}

/** The build puts the page here, made of `src/inspector` (build-page.ts); sources that run unbuilt have none. */
export const page: Page | undefined = undefined;
