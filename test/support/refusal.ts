import { PartnerExchangeError } from '../../src/errors/errors.ts';

/** What an act throws; fails when it throws nothing. */
export function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}

/** What an act is refused with, as `<kind> <code>`; anything but an error of the package is thrown on. */
export function refusal(act: () => unknown): string {
  const error = thrownBy(act);
  if (error instanceof PartnerExchangeError) return `${error.name} ${error.code}`;
  throw error;
}
