/** The platform's fetch, looked up at each call, so that one that is replaced later is used. */
export const platformFetch: typeof fetch = (input, init) => globalThis.fetch(input, init);
