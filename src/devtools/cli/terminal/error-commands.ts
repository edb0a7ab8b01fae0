import { type SdkError, wholeMessage } from '../../../errors/errors.ts';
import type { DetectionVerdict } from '../../diagnostics/detection/detection.ts';

type Finding = SdkError['code'] | DetectionVerdict;

/** The command for each code and verdict whose message names a function of the library that a command runs. */
export const errorCommands: Readonly<Partial<Record<Finding, string>>> = {
  invalid_scheme: 'learn',
  signature_malformed: 'learn',
  signature_mismatch: 'verify',
  keys_unavailable: 'keys receive',
  keys_known: 'keys receive',
  keys_not_received: 'keys receive',
  keys_unconfirmed: 'keys receive',
  rotation_pending: 'keys receive',
  rotation_unknown: 'keys receive',
  key_storage_invalid: 'keys receive',
  found: 'pin',
};

/** The whole message of an error, and the command that helps. */
export function messageWithCommand(error: SdkError): string {
  return withCommand(wholeMessage(error), error.code);
}

export function withCommand(message: string, finding: Finding): string {
  const command = errorCommands[finding];
  return command === undefined ? message : `${message} Command: partner-exchange ${command}`;
}
