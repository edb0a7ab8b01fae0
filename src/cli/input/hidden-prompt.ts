import { isCancel, password } from '@clack/prompts';

/**
 * Asks on this process's terminal, and hides what is typed. On stderr: stdout is for results.
 *
 * @returns `undefined` if the user cancelled it
 */
export async function hiddenPrompt(message: string): Promise<string | undefined> {
  const answer = await password({ message, input: process.stdin, output: process.stderr });
  return isCancel(answer) ? undefined : (answer ?? '');
}
