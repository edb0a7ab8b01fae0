import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Until the repository has an address, these stand for it; no host below .invalid can exist (RFC 2606). */
const placeholder = /[\w.+-]*@?[\w.-]+\.invalid\b/;

/** The places that must say whom to write to, each with what it has to hold. */
const places = {
  'package.json repository': /^git\+https:\/\/\S+\.git$/,
  'package.json bugs': /^(?:https:\/\/|mailto:)\S+$/,
  'package.json homepage': /^https:\/\/\S+$/,
  'SECURITY.md contact': /^(?:mailto:\S+@\S+|https:\/\/\S+)$/,
} as const;

type Place = keyof typeof places;

/** What keeps a package from being released: a place without an address, or with a placeholder. */
export function findContactProblems(contacts: Readonly<Record<Place, string>>): string[] {
  return Object.entries(places).flatMap(([place, form]) => {
    // Sound: the names of the table.
    const { [place as Place]: address } = contacts;
    const [found] = placeholder.exec(address) ?? [];
    if (found !== undefined) return [`${place} has the placeholder ${found}: give the real address.`];
    return form.test(address) ? [] : [`${place} has no address.`];
  });
}

/** The contacts that a folder with the package names. */
export function readContacts(folder: string): Record<Place, string> {
  // Sound: absent members become an empty text below.
  const { repository, bugs, homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    repository?: { url?: string };
    bugs?: { url?: string };
    homepage?: string;
  };
  const security = readFileSync(join(folder, 'SECURITY.md'), 'utf8');
  return {
    'package.json repository': repository?.url ?? '',
    'package.json bugs': bugs?.url ?? '',
    'package.json homepage': homepage ?? '',
    'SECURITY.md contact': /^Contact: <(.+)>$/m.exec(security)?.[1] ?? '',
  };
}
