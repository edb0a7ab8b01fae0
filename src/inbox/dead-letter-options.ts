import { checkNames, type OptionNames } from '../options/check-names.ts';
import { checkInteger, invalidOption } from '../options/check-values.ts';

/** How to read one dead letter. */
export interface DeadLetterReadOptions {
  /** Whether to add the body, which holds personal data. @default false */
  readonly withBody?: boolean | undefined;
}

/** Which dead letters to list, and whether with their bodies. */
export interface DeadLetterOptions extends DeadLetterReadOptions {
  /** How many to list; no more are read from the store. @default 100 */
  readonly limit?: number | undefined;
}

/** The options of one dead letter with their defaults. */
export interface DeadLetterRead {
  readonly withBody: boolean;
}

/** The options of a list with their defaults. */
export interface DeadLetterQuery extends DeadLetterRead {
  readonly limit: number;
}

const readNames: OptionNames<DeadLetterReadOptions> = { withBody: true };
const names: OptionNames<DeadLetterOptions> = { limit: true, ...readNames };
const defaults: DeadLetterQuery = Object.freeze({ limit: 100, withBody: false });

/** @throws {ConfigurationError} `invalid_option` */
export function checkDeadLetterOptions(options: DeadLetterOptions = {}): DeadLetterQuery {
  checkNames('deadLetters', options, names);
  return { limit: checkInteger('limit', options.limit ?? defaults.limit), withBody: checkWithBody(options) };
}

/** @throws {ConfigurationError} `invalid_option` */
export function checkDeadLetterRead(options: DeadLetterReadOptions = {}): DeadLetterRead {
  checkNames('deadLetter', options, readNames);
  return { withBody: checkWithBody(options) };
}

function checkWithBody({ withBody = defaults.withBody }: DeadLetterReadOptions): boolean {
  if (typeof withBody !== 'boolean') throw invalidOption('withBody must be true or false.');
  return withBody;
}
