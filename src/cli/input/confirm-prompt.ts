import { confirm, isCancel } from '@clack/prompts';

/** Asks yes or no on this process's terminal. No if the user cancels it. On stderr: stdout is for results. */
export async function confirmPrompt(message: string): Promise<boolean> {
  const answer = await confirm({
    message,
    initialValue: false,
    input: process.stdin,
    output: process.stderr,
  });
  return !isCancel(answer) && answer;
}
