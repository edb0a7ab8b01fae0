import { nextTurn } from '../support/next-turn.ts';

/** An inbox that another file of this process has left may still look for its store. */
const ofOthers = 'The store of the inbox failed';

/** The package's process warnings while `act` runs. */
export async function warningsDuring(act: () => unknown): Promise<Error[]> {
  const seen: Error[] = [];
  const listen = (warning: Error) => {
    if (warning.name === 'PartnerExchangeWarning' && !warning.message.startsWith(ofOthers))
      seen.push(warning);
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
