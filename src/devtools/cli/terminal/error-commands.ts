import { type SdkError, wholeMessage } from '../../../errors/errors.ts';

/** The command for each code whose message names a function of the library that a command runs. */
export const errorCommands: Readonly<Partial<Record<SdkError['code'], string>>> = {
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
};

/** The whole message of an error, and the command that helps. */
export function messageWithCommand(error: SdkError): string {
  const message = wholeMessage(error);
  const command = errorCommands[error.code];
  return command === undefined ? message : `${message} Command: partner-exchange ${command}`;
}
