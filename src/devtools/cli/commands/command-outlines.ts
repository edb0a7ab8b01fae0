/** A command as `--help` lists it: its line, and what must follow its name. */
export interface CommandOutline {
  readonly brief: string;
  readonly usage: string;
}

/** The build writes them here (tools/command-outlines.ts). In the bare sources `--help` loads the commands instead. */
export const commandOutlines: Readonly<Record<string, CommandOutline>> | undefined = undefined;
