import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  attackCases,
  attackCauses,
  baselineCase,
  type CaseId,
  type NamedCase,
} from '../../src/devtools/diagnostics/attack/case-table.ts';
import type { Cause } from '../../src/devtools/diagnostics/attack/causes.ts';

const intro = `# Faults that the attack finds

Details: skip this page unless [the attack](../guides/test-your-integration.md#attack-your-receiver) found a fault in your receiver, in any language.

Search this page for the id of your finding. A finding is [a cause](#causes) that explains several cases, or [one case](#cases) by itself. Authentic deliveries have the members of [the contract](../assumptions.md#the-contract). [How the attack judges](diagnostics.md#the-attack).

| in | mind |
|---|---|
| JavaScript | \`express.raw({ type: () => true })\` keeps the bytes. \`Buffer.from(text, 'hex')\` skips what is not hexadecimal: match \`/^[0-9a-f]{128}$/\` first. \`timingSafeEqual\` throws if the lengths differ |
| Python | \`request.get_data()\`, \`hmac.compare_digest\`, \`json.loads(raw, parse_float=Decimal)\`. \`zip\` ends with the shorter text; \`json.dumps\` escapes letters |
| PHP | \`php://input\`, \`hash_equals\`. \`json_encode\` escapes letters and slashes, and rewrites numbers |
| SQL | A primary key of order and event name, in the transaction of the effect. Compare ids by their bytes: \`COLLATE "C"\`, \`utf8mb4_bin\` |

The rest is generated from the tables of the attack (\`npm run docs:tables\`). A finding is the first cause that fits.
`;

/** docs/details/attack-faults.md, from the causes and the cases. */
export function attackPage(): string {
  const causes = Object.entries<Cause<CaseId>>(attackCauses).map(([id, cause]) => causeSection(id, cause));
  const byAdvice = Map.groupBy(cases, ({ advice }) => advice);
  const sections = [
    intro.trimEnd(),
    '## Causes',
    ...causes,
    '## Cases',
    `The remedy, then the cases that it mends, each with its deliveries. A sound receiver answers ${usualAnswer}, unless the line says otherwise.`,
    ...[...byAdvice].map(([advice, alike]) =>
      [`**${plain(advice)}**`, alike.map(caseLine).join('\n')].join('\n\n'),
    ),
  ];
  return `${sections.join('\n\n')}\n`;
}

const cases: readonly NamedCase[] = [baselineCase, ...attackCases];

const usualAnswer = cases.find(({ id }) => id === 'forged')?.expected ?? 'as it should';

function causeSection(id: string, cause: Cause<CaseId>): string {
  const { what, advice, shownBy, atLeast = 1 } = cause;
  const signs = new Set<string>(
    shownBy === undefined
      ? cases.filter((probe) => probe.causes?.some((name) => name === id)).map((probe) => probe.id)
      : Object.values(shownBy).flatMap((ids) => (ids === 'every case' ? [] : ids)),
  );
  const links = [...signs].map((sign) => `[\`${sign}\`](#${sign})`).join(', ');
  const least = atLeast > 1 ? `at least ${atLeast} of: ` : '';
  const shown = links === '' ? (atLeast > 1 ? `at least ${atLeast} cases` : 'any case') : `${least}${links}`;
  return [`### ${id}`, `The receiver ${plain(what)}. **${plain(advice)}**`, `Shown by ${shown}.`].join(
    '\n\n',
  );
}

function caseLine({ id, what, expected }: NamedCase): string {
  // A case that is a cause has its address there.
  const address = Object.hasOwn(attackCauses, id) ? '' : `<a id="${id}"></a>`;
  const answer = expected === usualAnswer ? '' : `. Sound: ${plain(expected)}`;
  return `- ${address}\`${id}\`: ${plain(what)}${answer}.`;
}

/** Escapes the characters that Markdown would read as its own. */
function plain(text: string): string {
  return text.replaceAll(/[\\|_*<]/g, '\\$&');
}

export function writeAttackPage(root: string): void {
  writeFileSync(join(root, 'docs', 'details', 'attack-faults.md'), attackPage());
}
