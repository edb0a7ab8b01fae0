import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkInteger, invalidOption } from '../options/check-values.ts';

/** Which dead letters to list, and whether with their bodies. */
export interface DeadLetterOptions {
  /** How many to list; no more are read from the store. @default 100 */
  readonly limit?: number | undefined;
  /** Whether to add each body, which holds personal data. @default false */
  readonly withBody?: boolean | undefined;
}

/** The options with their defaults. */
export interface DeadLetterQuery {
  readonly limit: number;
  readonly withBody: boolean;
}

const names: OptionNames<DeadLetterOptions> = { limit: true, withBody: true };
const defaults: DeadLetterQuery = Object.freeze({ limit: 100, withBody: false });

/** @throws {ConfigurationError} `invalid_option` */
export function checkDeadLetterOptions(options: DeadLetterOptions = {}): DeadLetterQuery {
  checkNames('deadLetters', options, names);
  const { limit = defaults.limit, withBody = defaults.withBody } = options;
  if (typeof withBody !== 'boolean') throw invalidOption('withBody must be true or false.');
  return { limit: checkInteger('limit', limit), withBody };
}
