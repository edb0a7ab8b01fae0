import { kindOf, PartnerExchangeError } from './partner-exchange-error.ts';

/**
 * - `invalid_deployment`: an option of `defineDeployment` is missing or malformed.
 * - `invalid_credentials`: a key is missing, blank, padded, or in the place of another key.
 * - `invalid_option`: an option of a client, of the webhooks or of a function is malformed.
 * - `invalid_scheme`: a signature scheme names something that does not exist.
 * - `invalid_environment`: an environment variable is malformed or misspelt, or one is missing beside others.
 * - `not_configured`: a setting has no default and was not given (see `assumptions`).
 * - `duplicate_handler`: a webhook handler was registered twice.
 * - `raw_body_required`: something parsed the body before its signature could be checked.
 * - `browser_environment`: secret keys were about to be used in a browser.
 */
export type ConfigurationErrorCode =
  | 'invalid_deployment'
  | 'invalid_credentials'
  | 'invalid_option'
  | 'invalid_scheme'
  | 'invalid_environment'
  | 'not_configured'
  | 'duplicate_handler'
  | 'raw_body_required'
  | 'browser_environment';

/** Something is set up wrongly. Thrown before any network use; fix the code or the configuration. */
export class ConfigurationError extends PartnerExchangeError {
  readonly code: ConfigurationErrorCode;
  /** Ids of the assumptions (see the ledger) that may be wrong when this error occurs. */
  readonly assumptions: readonly string[];

  constructor(code: ConfigurationErrorCode, message: string, options?: { assumptions?: readonly string[] }) {
    super('ConfigurationError', message);
    this.code = code;
    this.assumptions = options?.assumptions ?? [];
  }
}

/** True for a {@link ConfigurationError}, also of another copy of the package. */
export function isConfigurationError(error: unknown): error is ConfigurationError {
  return kindOf(error) === 'ConfigurationError';
}
