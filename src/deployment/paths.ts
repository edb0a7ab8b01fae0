import { ConfigurationError } from '../errors/configuration-error.ts';

/** The operations of the contract that have an address. */
export type Operation =
  | 'onboard'
  | 'whitelistIp'
  | 'regenerateKeys'
  | 'createOrder'
  | 'generateApiKey'
  | 'scanDevice'
  | 'checkNumber'
  | 'sendMessage';

/** Path of each operation below its base URL; `undefined` where nothing is published or reported. */
export type Paths = Readonly<Record<Exclude<Operation, 'checkNumber'>, string>> & {
  readonly checkNumber: string | undefined;
};

/** As published (contract: Endpoints), except `createOrder`, which is reported. */
export const defaultPaths: Paths = Object.freeze({
  onboard: '/api/v1/no-auth/PartnerP2P/OnboardPartner',
  whitelistIp: '/test-ip-connection/',
  // The dot before the last slash is published so.
  regenerateKeys: '/api/v1/no-auth/PartnerP2P/OnboardPartner./',
  createOrder: '/api/v1/no-auth/PartnerP2P/CreateOrder/',
  generateApiKey: '/api-keys/generate',
  scanDevice: '/connect-msg/scan-device',
  checkNumber: undefined,
  sendMessage: '/send-messages/send',
});

/** The published paths with a deployment's own in their place. @throws {ConfigurationError} `invalid_deployment` */
export function resolvePaths(
  overrides: Partial<Paths> | undefined,
  connectSegment: string | undefined,
): Paths {
  const given = Object.entries(overrides ?? {}).filter(([, path]) => path !== undefined);
  for (const [operation, path] of given) checkPath(operation, path);
  const published =
    connectSegment === undefined
      ? defaultPaths
      : { ...defaultPaths, scanDevice: defaultPaths.scanDevice.replace('connect-msg', connectSegment) };
  return Object.freeze({ ...published, ...Object.fromEntries(given) });
}

function checkPath(operation: string, path: unknown): void {
  if (!Object.hasOwn(defaultPaths, operation)) {
    throw invalid(`paths.${operation} is not an operation: use ${Object.keys(defaultPaths).join(', ')}.`);
  }
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw invalid(`paths.${operation} must begin with "/".`);
  const unwanted = ['?', '#', '\\', '//'].find((piece) => path.includes(piece));
  if (unwanted !== undefined)
    throw invalid(`paths.${operation} must be a plain path: it holds "${unwanted}".`);
  // What the URL parser would rewrite (dot segments, blanks, non-ASCII) would not be the path as given.
  if (new URL(path, 'http://host').pathname !== path) {
    throw invalid(
      `paths.${operation} must be written as it goes over the wire, percent-encoded where needed.`,
    );
  }
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_deployment', message);
}
