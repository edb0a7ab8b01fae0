import { ConfigurationError } from '../errors/configuration-error.ts';

/** Something that an environment variable holds is malformed. The message never shows what it is. */
export function invalidEnvironment(message: string): ConfigurationError {
  return new ConfigurationError('invalid_environment', message);
}
