import { join } from 'node:path';
import ts from 'typescript';
import { type Entry, readEntries, root } from './entries.ts';

/** The program of a user that passes on what one entry has. */
export interface Reexport {
  readonly subpath: string;
  readonly code: string;
}

/**
 * For each entry a program that passes on every function and every member of every type that is at home there. With
 * `declaration` the compiler has to name all types of these, and knows no entry but this one.
 */
export function makeReexports(): Reexport[] {
  const entries = readEntries();
  const files = entries.map(({ source }) => join(root, source));
  const program = ts.createProgram(files, {
    ...{ strict: true, skipLibCheck: true, noEmit: true, allowImportingTsExtensions: true },
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    types: ['node'],
  });
  const checker = program.getTypeChecker();
  const exported = new Map(entries.map((entry) => [entry, exportsOf(program, join(root, entry.source))]));
  return entries.map((entry) => {
    const own = [...(exported.get(entry) ?? [])].filter(
      ([, symbol]) => homeOf(symbol, exported)?.subpath === entry.subpath,
    );
    const lines = own.flatMap(([name, symbol]) => statementsOf(checker, name, symbol));
    return { subpath: entry.subpath, code: [...headOf(entry), ...lines, ''].join('\n') };
  });
}

type Exports = ReadonlyMap<string, ts.Symbol>;

function exportsOf(program: ts.Program, file: string): Exports {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const entry = source && checker.getSymbolAtLocation(source);
  if (entry === undefined) throw new Error(`${file} exports nothing.`);
  return new Map(
    checker.getExportsOfModule(entry).map((symbol) => {
      const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
      return [symbol.name, isAlias ? checker.getAliasedSymbol(symbol) : symbol];
    }),
  );
}

/** The entry in whose folder it is declared, or else the first that exports it. Others may pass it on alone. */
function homeOf(symbol: ts.Symbol, exported: ReadonlyMap<Entry, Exports>): Entry | undefined {
  const file = symbol.declarations?.[0]?.getSourceFile().fileName ?? '';
  const exporting = [...exported].filter(([, names]) => [...names.values()].includes(symbol));
  const candidates = exporting.map(([entry]) => entry);
  const folderOf = ({ source }: Entry) => join(root, source, '..', '/');
  const around = candidates.filter((entry) => entry.subpath !== '.' && file.startsWith(folderOf(entry)));
  return around.toSorted((a, b) => b.source.length - a.source.length)[0] ?? candidates[0];
}

function headOf({ specifier }: Entry): string[] {
  return [
    `import * as entry from '${specifier}';`,
    'type Member<Type, Name> = Type extends unknown ? (Name extends keyof Type ? Type[Name] : never) : never;',
    'declare function member<Type, const Name>(of: Type, name: Name): Member<Type, Name>;',
    'declare function call<Given extends unknown[], Result>(of: (...given: Given) => Result): (...given: Given) => Result;',
    'declare function make<Given extends unknown[], Result>(of: new (...given: Given) => Result): (...given: Given) => Result;',
  ];
}

function statementsOf(checker: ts.TypeChecker, name: string, symbol: ts.Symbol): string[] {
  const lines: string[] = [];
  if (symbol.flags & ts.SymbolFlags.Value) {
    const type = checker.getTypeOfSymbol(symbol);
    // The package makes its errors.
    const isError = symbol.flags & ts.SymbolFlags.Class && name.endsWith('Error');
    if (type.getCallSignatures().length > 0) lines.push(`export const ${name}_call = call(entry.${name});`);
    if (type.getConstructSignatures().length > 0 && !isError)
      lines.push(`export const ${name}_make = make(entry.${name});`);
  }
  if (symbol.flags & ts.SymbolFlags.Type) {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const parameters = parametersOf(symbol);
    const written = `entry.${name}${parameters === 0 ? '' : `<${Array(parameters).fill('any').join(', ')}>`}`;
    if (type.getCallSignatures().length > 0)
      lines.push(`export const ${name}_called = (of: ${written}) => call(of);`);
    for (const member of membersOf(checker, type)) {
      const key = JSON.stringify(member);
      lines.push(
        `export const ${name}_${member.replaceAll(/\W/g, '_')} = (of: ${written}) => member(of, ${key});`,
      );
    }
  }
  return lines;
}

function parametersOf({ declarations = [] }: ts.Symbol): number {
  const lengths = declarations.map((declaration) =>
    ts.isInterfaceDeclaration(declaration) ||
    ts.isTypeAliasDeclaration(declaration) ||
    ts.isClassDeclaration(declaration)
      ? (declaration.typeParameters?.length ?? 0)
      : 0,
  );
  return Math.max(0, ...lengths);
}

/** Of a union those of each of its types. Members that the package does not declare have names elsewhere. */
function membersOf(checker: ts.TypeChecker, type: ts.Type): Set<string> {
  if (type.isUnion()) return new Set(type.types.flatMap((each) => [...membersOf(checker, each)]));
  if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return new Set();
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return new Set(
    checker
      .getPropertiesOfType(type)
      .filter(
        ({ name, declarations = [] }) =>
          !name.startsWith('__@') &&
          declarations.some(
            (each) =>
              each.getSourceFile().fileName.startsWith(join(root, 'src')) &&
              !(ts.getCombinedModifierFlags(each) & hidden),
          ),
      )
      .map(({ name }) => name),
  );
}
