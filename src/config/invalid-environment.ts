import { ConfigurationError } from '../errors/configuration-error.ts';

/** The error for a malformed variable. The message never shows its value. */
export function invalidEnvironment(message: string): ConfigurationError {
  return new ConfigurationError('invalid_environment', message);
}
