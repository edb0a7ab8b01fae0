/** The inspector's page, and the hashes for its Content-Security-Policy. */
export interface Page {
  readonly html: string;
  /** `sha256-…` of the one script. */
  readonly scriptHash: string;
  /** `sha256-…` of the one style sheet. */
  readonly styleHash: string;
}

/** Replaced by the build with the page of `src/devtools/inspector` (tools/build-page.ts); `undefined` in sources. */
export const page: Page | undefined = undefined;
