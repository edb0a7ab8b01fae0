import { codeOf } from '../../../../errors/errors.ts';
import { openStore, parseStoreAddress } from '../../inputs/open-store.ts';
import { type CliContext, CliError } from '../../terminal/context.ts';
import { describeFailure } from '../../terminal/failure-line.ts';
import { broken, ok, type Result, skippedCheck } from './surroundings.ts';

/** Whether each store is there and can be read. Makes none. */
export async function examineStores(
  context: CliContext,
  addresses: readonly string[] | undefined,
): Promise<Result[]> {
  if (addresses === undefined) return [skippedCheck('Name them with --store.')];
  return await Promise.all(addresses.map((place) => examineStore(context, place)));
}

async function examineStore(context: CliContext, place: string): Promise<Result> {
  let shown = 'The store';
  try {
    const address = parseStoreAddress(context, place);
    ({ shown } = address);
    const { store, close } = await openStore(context, { address, mustExist: true });
    try {
      const [first] = await store.list({ prefix: '', limit: 1 });
      return ok(`${shown} can be read, and ${first === undefined ? 'is empty' : 'holds records'}.`);
    } finally {
      await close();
    }
  } catch (error) {
    if (error instanceof CliError) return broken(error.message, 'Name the store that your programs use.');
    // The driver names a host that refuses, or a missing table: neither holds a password.
    const code = systemCodeOf(error);
    return broken(
      `${shown} cannot be read: ${code || describeFailure(error).message}.`,
      'Is the address right, and is the server up?',
    );
  }
}

/** The code of the system, also that of a cause: `localhost` fails once for each of its addresses. */
function systemCodeOf(error: unknown): string {
  const causes = error instanceof AggregateError ? error.errors : [];
  const cause = error instanceof Error ? error.cause : undefined;
  return (
    [error, ...causes].map(codeOf).find((code) => /^E[A-Z_]+$/.test(code)) ||
    (cause ? systemCodeOf(cause) : '')
  );
}
