import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';

/** Where something is stored: a SQLite file, a Redis or a PostgreSQL. */
export type StorePlace =
  | { readonly kind: 'file'; readonly path: string; readonly isThere: boolean }
  | { readonly kind: 'redis' | 'postgres'; readonly url: string };

/** Reads `orders.sqlite`, `redis://…`, `postgres://…`, or `env:NAME`, a variable that holds one of these. */
export function readPlace(context: CliContext, given: string): StorePlace {
  const variable = /^env:(.+)$/.exec(given)?.[1];
  const place = variable === undefined ? given : context.env[variable];
  if (!place) throw new CliError(`The variable ${variable} is not set: set it to the address of the store.`);
  const scheme = /^(rediss?|postgres|postgresql):\/\//i.exec(place)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    const path = resolve(context.cwd, place);
    return { kind: 'file', path, isThere: existsSync(path) };
  }
  if (!URL.canParse(place))
    throw new CliError('The address of the store is not a URL: check how it is spelled.');
  const { password } = new URL(place);
  if (password !== '') {
    for (const secret of [place, password, decodeURIComponent(password)]) context.secrets.add(secret);
    if (variable === undefined) {
      throw new CliError(
        'That address holds a password, and other users see arguments: put it into a variable, and give env:NAME.',
      );
    }
  }
  return { kind: scheme.startsWith('redis') ? 'redis' : 'postgres', url: place };
}

/** The same of what has to be there already: a file that is made by mistake would look like one with nothing in it. */
export function readExistingPlace(context: CliContext, given: string): StorePlace {
  const place = readPlace(context, given);
  if (place.kind === 'file' && !place.isThere) throw new CliError(`There is no ${given}: check the path.`);
  return place;
}
