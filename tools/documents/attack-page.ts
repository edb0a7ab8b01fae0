import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  attackCases,
  attackCauses,
  baselineCase,
  type CaseId,
  type NamedCase,
} from '../../src/devtools/diagnostics/attack/case-table.ts';
import type { Cause, Signs } from '../../src/devtools/diagnostics/attack/causes.ts';

const intro = `# Faults that the attack finds

Details: skip this page unless [the attack](../guides/test-your-integration.md#attack-your-receiver) found a fault in your receiver, in any language.

Search this page for the id of your finding. A finding is [a cause](#causes) that explains several cases, or [one case](#cases) by itself. Authentic deliveries have the members of [the contract](../assumptions.md#the-contract). [How the attack judges](diagnostics.md#the-attack).

| in | mind |
|---|---|
| JavaScript | \`express.raw({ type: () => true })\` keeps the bytes. \`Buffer.from(text, 'hex')\` skips what is not hexadecimal: match \`/^[0-9a-f]{128}$/\` first. \`timingSafeEqual\` throws if the lengths differ |
| Python | \`request.get_data()\`, \`hmac.compare_digest\`, \`json.loads(raw, parse_float=Decimal)\`. \`zip\` ends with the shorter text; \`json.dumps\` escapes letters |
| PHP | \`php://input\`, \`hash_equals\`. \`json_encode\` escapes letters and slashes, and rewrites numbers |
| SQL | A primary key of order and event name, in the transaction of the effect. Compare ids by their bytes: \`COLLATE "C"\`, \`utf8mb4_bin\` |

The rest is generated from the tables of the attack (\`npm run docs:tables\`).
`;

/** docs/details/attack-faults.md, from the causes and the cases. */
export function attackPage(): string {
  const causes = Object.entries<Cause<CaseId>>(attackCauses);
  const sections = [
    intro.trimEnd(),
    '## Causes',
    ...causes.map(([id, cause]) => causeSection(id, cause)),
    '## Cases',
    caseTable(),
  ];
  return `${sections.join('\n\n')}\n`;
}

const cases: readonly NamedCase[] = [baselineCase, ...attackCases];

function causeSection(id: string, cause: Cause<CaseId>): string {
  const { what, advice, atLeast = 1 } = cause;
  const links = casesThatShow(id, cause).map((name) => `[\`${name}\`](#${name})`);
  const shown = links.length > 0 ? `${atLeast > 1 ? `${atLeast} of ` : ''}${links.join(', ')}` : 'any case';
  return [
    `### ${id}`,
    `**The receiver ${plain(what)}.**`,
    `What to do: ${plain(advice)}`,
    `Shown by: ${shown}.`,
  ].join('\n\n');
}

/** The cases whose failure points to a cause. */
function casesThatShow(id: string, { shownBy }: Cause<CaseId>): readonly CaseId[] {
  const named = cases.filter((probe) => probe.id === id || probe.causes?.some((name) => name === id));
  if (shownBy === undefined) return named.map((probe) => probe.id);
  const signs = Object.values<Signs<CaseId>[keyof Signs]>(shownBy);
  const ids = signs.flatMap((sign) => (sign === 'every case' || sign === undefined ? [] : sign));
  return [...new Set(ids)];
}

function caseTable(): string {
  const rows = cases.map(({ id, what, expected, advice }) => {
    // A case that is a cause has its anchor there.
    const anchor = Object.hasOwn(attackCauses, id) ? '' : `<a id="${id}"></a>`;
    return `| ${anchor}\`${id}\` | ${[what, expected, advice].map(plain).join(' | ')} |`;
  });
  return ['| case | deliveries | a sound answer | what to do |', '|---|---|---|---|', ...rows].join('\n');
}

/** Escapes the characters that Markdown would read as its own. */
function plain(text: string): string {
  return text.replaceAll(/[\\|_*<]/g, '\\$&');
}

export function writeAttackPage(root: string): void {
  writeFileSync(join(root, 'docs', 'details', 'attack-faults.md'), attackPage());
}
