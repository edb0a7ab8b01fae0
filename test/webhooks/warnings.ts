import { nextTurn } from '../support/next-turn.ts';

/** The package's process warnings while `act` runs. */
export async function warningsDuring(act: () => unknown): Promise<Error[]> {
  const seen: Error[] = [];
  const listen = (warning: Error) => {
    if (warning.name === 'PartnerExchangeWarning') seen.push(warning);
  };
  // Those of the test before this one are emitted first.
  await nextTurn();
  process.on('warning', listen);
  try {
    await act();
    // Warnings are emitted in the next tick.
    await nextTurn();
  } finally {
    process.off('warning', listen);
  }
  return seen;
}
