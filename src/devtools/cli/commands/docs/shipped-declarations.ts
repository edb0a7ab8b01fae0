import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An exported name, or a member of an exported type, as the shipped `.d.ts` declares it. */
export interface Declaration {
  /** `createWebhooks`, or the type and its member: `WebhookOptions.maxBodyBytes`. */
  readonly name: string;
  readonly member: string | undefined;
  /** Whether the member can be left out. */
  readonly isOptional: boolean;
  /** The entries that export the name. */
  readonly entries: readonly string[];
  /** With its doc comment. */
  readonly code: string;
}

/** Every declaration that an entry exports. None in a checkout that was not built. */
export function readDeclarations(folder: string): Declaration[] {
  const dist = join(folder, 'dist');
  if (!existsSync(dist)) return [];
  const files = readdirSync(dist).filter((file) => file.endsWith('.d.ts'));
  const texts = new Map(files.map((file) => [file, readFileSync(join(dist, file), 'utf8')]));
  const entries = readExports(folder, texts);
  return [...texts.values()].flatMap((text) =>
    scanDeclarations(text).flatMap(({ owner, ...declaration }) => {
      const exporting = entries.get(owner);
      return exporting === undefined ? [] : [{ ...declaration, entries: exporting }];
    }),
  );
}

/** By exported name, the entries that export it. */
function readExports(folder: string, texts: ReadonlyMap<string, string>): Map<string, string[]> {
  // Our own file, in a package of our own name.
  const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    exports: Record<string, { types?: string }>;
  };
  const entries = new Map<string, string[]>();
  for (const [path, { types }] of Object.entries(exports)) {
    const text = texts.get(types?.replace('./dist/', '') ?? '') ?? '';
    const lists = text.matchAll(/^export (?:type )?\{([^}]*)\}/gm);
    for (const exported of [...lists].flatMap(([, list = '']) => list.split(','))) {
      const own = exported.trim().split(/\s+/).at(-1) ?? '';
      entries.set(own, [...(entries.get(own) ?? []), `${name}${path.slice(1)}`]);
    }
  }
  return entries;
}

const topLevel = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|class|type|function|const) (\w+)/;
const memberLine = /^( {4,})(?:static )?(?:readonly )?(?:get )?(\w+)(\?)?[(:<]/;

interface ScannedDeclaration extends Omit<Declaration, 'entries'> {
  readonly owner: string;
}

/** Reads by lines: the build indents each level by four blanks, and ends a declaration at the indentation that it began at. */
function scanDeclarations(text: string): ScannedDeclaration[] {
  const lines = text.split('\n');
  const found: ScannedDeclaration[] = [];
  let owner = '';
  let comment = -1;
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (/^ *\/\*\*/.test(line)) {
      comment = index;
      while (!lines[index]?.includes('*/') && index < lines.length) index++;
      continue;
    }
    const [, name] = topLevel.exec(line) ?? [];
    const [, indent = '', member, mark] = (name === undefined && memberLine.exec(line)) || [];
    if (name !== undefined) owner = name;
    if (name !== undefined || member !== undefined) {
      const code = lines.slice(comment === -1 ? index : comment, endOf(lines, index, indent) + 1);
      found.push({
        owner,
        name: member === undefined ? owner : `${owner}.${member}`,
        member,
        isOptional: mark === '?',
        code: code.map((each) => each.slice(indent.length)).join('\n'),
      });
    }
    comment = -1;
  }
  return found;
}

function endOf(lines: readonly string[], start: number, indent: string): number {
  const end = lines.findIndex(
    (line, index) =>
      index >= start &&
      line.startsWith(indent) &&
      (index === start || line[indent.length] !== ' ') &&
      /[;}]$/.test(line),
  );
  return end === -1 ? start : end;
}
