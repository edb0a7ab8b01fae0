/** Kept equal to package.json by a test. */
export const userAgent = 'partner-exchange-sdk/0.1.0';
