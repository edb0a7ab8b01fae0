import { describe, expect, it } from 'vitest';
import { exitCodes, finalExitCode } from '../../../src/devtools/cli/terminal/context.ts';

const { ok, findings, usage, unknownOutcome, stopped } = exitCodes;

describe('the exit code', () => {
  it.each([
    ['ok', ok, [ok, stopped, usage, usage]],
    ['findings', findings, [findings, stopped, usage, usage]],
    ['usage', usage, [usage, stopped, usage, usage]],
    ['stopped', stopped, [stopped, stopped, usage, usage]],
    // Whoever repeats a command after another code would repeat the request.
    ['an unknown outcome', unknownOutcome, [unknownOutcome, unknownOutcome, unknownOutcome, unknownOutcome]],
  ] as const)('of %s: by itself, stopped, its output lost, and both', (_, code, expected) => {
    expect([
      finalExitCode(code, {}),
      finalExitCode(code, { isStopped: true }),
      finalExitCode(code, { isOutputLost: true }),
      finalExitCode(code, { isStopped: true, isOutputLost: true }),
    ]).toEqual(expected);
  });
});
