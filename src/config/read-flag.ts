import { invalidEnvironment } from './invalid-environment.ts';

/** @throws {ConfigurationError} unless it is `true` or `false`, so that `0`, `no` or a typo cannot switch it on */
export function readFlag(value: string): boolean {
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw invalidEnvironment('must be true or false.');
}
