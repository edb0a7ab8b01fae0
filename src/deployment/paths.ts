import { ConfigurationError } from '../errors/configuration-error.ts';
import { checkNames, type OptionNames } from '../options/check-names.ts';
import { type Operation, operations } from './operations.ts';

/** Path of each operation below its base URL; `undefined` where nothing is published or reported. */
export type Paths = Readonly<Record<Exclude<Operation, 'checkNumber'>, string>> & {
  readonly checkNumber: string | undefined;
};

/** As published (contract: Endpoints), except `createOrder`, which is reported. */
export const defaultPaths: Paths = Object.freeze({
  onboard: operations.onboard.path,
  whitelistIp: operations.whitelistIp.path,
  regenerateKeys: operations.regenerateKeys.path,
  createOrder: operations.createOrder.path,
  generateApiKey: operations.generateApiKey.path,
  scanDevice: operations.scanDevice.path,
  checkNumber: operations.checkNumber.path,
  sendMessage: operations.sendMessage.path,
});

const pathNames: OptionNames<Paths> = {
  onboard: true,
  whitelistIp: true,
  regenerateKeys: true,
  createOrder: true,
  generateApiKey: true,
  scanDevice: true,
  checkNumber: true,
  sendMessage: true,
};

/**
 * The published paths, replaced by a deployment's own where given. @throws {ConfigurationError} `invalid_deployment`
 */
export function resolvePaths(
  overrides: Partial<Paths> | undefined,
  connectSegment: string | undefined,
): Paths {
  checkNames('paths', overrides ?? {}, pathNames, 'invalid_deployment');
  const given = Object.entries(overrides ?? {}).filter(([, path]) => path !== undefined);
  for (const [operation, path] of given) checkPath(operation, path);
  const published =
    connectSegment === undefined
      ? defaultPaths
      : { ...defaultPaths, scanDevice: defaultPaths.scanDevice.replace('connect-msg', connectSegment) };
  return Object.freeze({ ...published, ...Object.fromEntries(given) });
}

function checkPath(operation: string, path: unknown): void {
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw invalid(`paths.${operation} must begin with "/".`);
  const unwanted = ['?', '#', '\\', '//'].find((piece) => path.includes(piece));
  if (unwanted !== undefined)
    throw invalid(`paths.${operation} must be a plain path: it holds "${unwanted}".`);
  // The URL parser would rewrite such a path (dot segments, blanks, non-ASCII).
  if (new URL(path, 'http://host').pathname !== path) {
    throw invalid(
      `paths.${operation} must be written as it goes over the wire, percent-encoded where needed.`,
    );
  }
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_deployment', message);
}
