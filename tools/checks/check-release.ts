import { root } from './entries.ts';
import { findContactProblems, readContacts } from './release-contacts.ts';

/** `npm run check:release`: run it before a release. It fails while a contact is missing or a placeholder. */
const problems = findContactProblems(readContacts(root));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log('Every contact has an address.');
