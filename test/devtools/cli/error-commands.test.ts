import { describe, expect, it } from 'vitest';
import { commandNames } from '../../../src/devtools/cli/commands/command-list.ts';

import { describeFailure, errorCommands } from '../../../src/devtools/cli/terminal/failure-line.ts';
import { ConfigurationError, KeyError, SignatureError } from '../../../src/errors/errors.ts';

const errors = [
  new ConfigurationError('invalid_scheme', 'It failed.'),
  new SignatureError('signature_malformed', 'It failed.'),
  new SignatureError('signature_mismatch', 'It failed.'),
  new KeyError('keys_unavailable', 'It failed.'),
  new KeyError('keys_known', 'It failed.'),
  new KeyError('keys_not_received', 'It failed.'),
  new KeyError('keys_unconfirmed', 'It failed.'),
  new KeyError('rotation_pending', 'It failed.'),
  new KeyError('rotation_unknown', 'It failed.'),
  new KeyError('key_storage_invalid', 'It failed.'),
];

describe('the message of an error on the command line', () => {
  it.each(errors)("is the library's own and the command that helps: $code", (error) => {
    const command = errorCommands[error.code];
    expect(commandNames).toContain(command?.split(' ')[0]);
    expect(describeFailure(error).message).toBe(`${error.message} Command: partner-exchange ${command}`);
  });

  it('has a command for these codes alone', () => {
    expect(Object.keys(errorCommands)).toEqual(errors.map(({ code }) => code));
    const error = new KeyError('keys_replaced', 'They were replaced.');
    expect(describeFailure(error).message).toBe(error.message);
  });
});
