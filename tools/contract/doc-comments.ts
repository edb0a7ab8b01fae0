import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { type Assumption, type AssumptionId, assumptions } from '../../src/deployment/assumptions.ts';

/** A doc comment: its text, and where the fact comes from. */
export interface Doc {
  readonly text: string;
  /** The entry of the ledger that the comment cites, if any. */
  readonly ledger: AssumptionId | undefined;
}

/** A documented interface; members of an interface that it extends are included. */
export interface InterfaceDoc extends Doc {
  readonly members: ReadonlyMap<string, MemberDoc>;
}

export interface MemberDoc extends Doc {
  /** `published`, or the basis of the entry that the interface cites. */
  readonly source: Assumption['basis'];
  /** The members of its own that a member has whose type is an interface of the same files. */
  readonly members?: ReadonlyMap<string, MemberDoc> | undefined;
}

/**
 * The doc comments of the interfaces in these files, by name.
 *
 * A comment cites `(ledger: …)` for an assumption, and `(contract: …)` for what the contract shows. A member that cites
 * nothing has the source and the assumption of its interface.
 */
export function readInterfaces(files: readonly URL[]): (name: string) => InterfaceDoc {
  const sources = files.map((file) =>
    ts.createSourceFile(file.pathname, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true),
  );
  const declarations = new Map(
    sources.flatMap(({ statements }) =>
      statements.filter(ts.isInterfaceDeclaration).map((each) => [each.name.text, each] as const),
    ),
  );
  const read = (name: string): InterfaceDoc => {
    const declaration = declarations.get(name);
    if (declaration === undefined) throw new Error(`There is no interface ${name}.`);
    const doc = readDoc(declaration);
    const parents = (declaration.heritageClauses ?? [])
      .flatMap(({ types }) => types.map(({ expression }) => expression.getText()))
      .flatMap((parent) => [...read(parent).members]);
    const own = declaration.members.map((member): [string, MemberDoc] => {
      const { text, ledger, isPublished } = readDoc(member);
      const type = interfaceIn(member);
      const members = type === undefined ? undefined : read(type).members;
      const inherited = isPublished ? undefined : doc.ledger;
      const source = assumptions.find(({ id }) => id === inherited)?.basis ?? 'published';
      return [member.name?.getText() ?? '', { text, source, ledger: ledger ?? inherited, members }];
    });
    return { text: doc.text, ledger: doc.ledger, members: new Map([...parents, ...own]) };
  };
  return read;

  /** The first interface of these files that a member's type names. */
  function interfaceIn(node: ts.Node): string | undefined {
    if (ts.isTypeReferenceNode(node) && declarations.has(node.typeName.getText())) {
      return node.typeName.getText();
    }
    return ts.forEachChild(node, interfaceIn);
  }
}

function readDoc(node: ts.Node): Doc & { readonly isPublished: boolean } {
  const comments = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = comments
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join(' ')
    .replace(/\s+/g, ' ');
  const [, cited] = /\(ledger: `([^`]+)`/.exec(text) ?? [];
  const known = assumptions.find(({ id }) => id === cited);
  if (cited !== undefined && known === undefined) throw new Error(`The ledger has no entry "${cited}".`);
  return { text, ledger: known?.id, isPublished: text.includes('(contract: ') };
}
