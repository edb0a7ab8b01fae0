import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './entries.ts';

/** A mistake that costs money, and that a reader would copy. */
interface Mistake {
  readonly what: string;
  readonly shownBy: readonly RegExp[];
  /** A program with one of these avoids the mistake. */
  readonly unless?: RegExp;
}

const requestBody = String.raw`(?:\(?await\s+)?(?:json\(\s*req|req(?:uest)?\.(?:body\b|json\())`;
const sendsOrder = String.raw`\b(?:createOrder|journal\.(?:create|prepare))\(\s*(?:\{\s*\.\.\.)?`;

const mistakes: readonly Mistake[] = [
  {
    what: 'takes the order id of an event for a proof of whose order it is: compare key.partnerId, or observe',
    shownBy: [
      /event\.partner_order_id\s*[!=]==?|[!=]==?\s*event\.partner_order_id/g,
      /(?:\.(?:get|has)|\b(?:find|get|load|look|read)\w*|\w+Of)\(\s*event\.partner_order_id/g,
      /\b(?:SELECT|UPDATE|DELETE)\b[^;]*\[\s*event\.partner_order_id/gi,
    ],
    unless: /\.observe\b|\bpartnerId\b|\bowner\b/,
  },
  {
    what: 'guards an effect by the digest of a delivery: use effectKey, since two texts can report one credit',
    shownBy: [
      // A handler that takes the digest from its context.
      /\(\w+, \{[^}\n]*\bdigest\b[^}\n]*\}\) =>|\bcontext\.digest\b/g,
      /\bdigest TEXT PRIMARY KEY|'idempotency-key': digest/gi,
    ],
  },
  {
    what: "sends the body of a request as an order: take the members that are the buyer's, and your own row",
    shownBy: [
      new RegExp(`${sendsOrder}(?:input|body|payload|${requestBody})`, 'g'),
      new RegExp(`const (\\w+)[^=\\n]*=\\s*${requestBody}[\\s\\S]*?${sendsOrder}\\1\\b`, 'g'),
    ],
  },
];

/** Programs of pages, examples and doc comments, by their place. */
export type Programs = readonly (readonly [place: string, code: string])[];

/** The mistakes in programs that readers copy. */
export function findUnsafeExamples(programs: Programs = readPrograms()): string[] {
  return programs.flatMap(([place, code]) =>
    mistakes
      .filter(({ unless }) => unless?.test(code) !== true)
      .flatMap(({ what, shownBy }) =>
        shownBy
          .flatMap((pattern) => [...code.matchAll(pattern)])
          .map(([text]) => `${place}: "${text.split('\n')[0]}" ${what}`),
      ),
  );
}

function readPrograms(): Programs {
  const pages = globSync(['*.md', 'docs/**/*.md', 'skills/**/*.md', 'src/**/*.ts'], {
    cwd: root,
    exclude: ['docs/reference/**'],
  });
  const examples = globSync('examples/**/*.ts', { cwd: root });
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  return [
    ...pages.flatMap((file) => programsIn(read(file)).map((code) => [file, code] as const)),
    ...examples.map((file) => [file, read(file)] as const),
  ];
}

/** The code blocks of a page, or of the doc comments of a source. */
function programsIn(text: string): string[] {
  const blocks = text.matchAll(/^(?: *\* )?```(?:ts|js)\n([\s\S]*?)^(?: *\* )?```$/gm);
  return [...blocks].map(([, code = '']) => code.replaceAll(/^ *\* ?/gm, ''));
}

if (import.meta.main) {
  const problems = findUnsafeExamples();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
