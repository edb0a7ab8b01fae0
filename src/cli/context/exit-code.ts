/** What the process ends with; docs/cli.md is checked against it. */
export const exitCodes = {
  /** Everything is as it should be. */
  ok: 0,
  /** It ran, and found something wrong, or the service refused it. */
  findings: 1,
  /** It did not run: arguments, configuration or files are not right. */
  usage: 2,
  /** A request may or may not have been acted on: look before you repeat it. */
  unknownOutcome: 3,
  /** Stopped by Ctrl-C. */
  stopped: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
