import { proposeCompletions } from '@stricli/core';
import { loadApplication } from '../application.ts';

/** What the last word of a command line may become, for the scripts of `completion`. */
export async function proposeWords(words: readonly string[]): Promise<string[]> {
  const silent = { write: () => {} };
  const proposals = await proposeCompletions(await loadApplication(words.slice(0, 1)), words, {
    process: { stdout: silent, stderr: silent },
    finish: async () => {},
  });
  return proposals.map(({ completion }) => completion);
}
