/** A test keeps it equal to the version in package.json. */
export const userAgent = 'partner-exchange-sdk/0.2.0';
