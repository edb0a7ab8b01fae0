import { PartnerExchangeError } from '../../src/errors/errors.ts';

/** What a function throws; fails when it throws nothing. */
export function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}

/** What a promise is rejected with; fails when it is fulfilled. */
export async function rejected(promise: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([promise]);
  if (result.status === 'rejected') return result.reason;
  throw new Error('Nothing was rejected.');
}

/** What an act is refused with, as `<kind> <code>`; anything but an error of the package is thrown on. */
export function refusal(act: () => unknown): string {
  const error = thrownBy(act);
  if (error instanceof PartnerExchangeError) return `${error.name} ${error.code}`;
  throw error;
}
