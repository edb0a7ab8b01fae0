import {
  AliasNotFoundError,
  type ApplicationText,
  ArgumentParseError,
  EnumValidationError,
  FlagNotFoundError,
  text_en,
  UnexpectedFlagError,
  UnexpectedPositionalError,
  UnsatisfiedFlagError,
  UnsatisfiedPositionalError,
} from '@stricli/core';
import { nearestSpelling } from '../internal/nearest-name.ts';
import { CliError } from './context.ts';

/**
 * The texts of stricli. A typed word is repeated only if a known name is near: it may be a key in the wrong place.
 */
export const applicationText: ApplicationText = {
  ...text_en,
  noCommandRegisteredForInput: ({ input, corrections }) => {
    // stricli proposes `start` for `port`.
    const names = corrections.map((name) => name.replaceAll('`', ''));
    const near = nearestSpelling(input, names);
    return withNextStep(
      near === undefined
        ? `There is no such command. ${twoHyphens}`
        : `There is no command \`${input}\`: did you mean \`${near}\`?`,
    );
  },
  exceptionWhileParsingArguments: (error) => withNextStep(describe(error)),
};

function withNextStep(problem: string): string {
  return `${problem} Add --help to see what there is.`;
}

/** No option can be proposed without repeating what was typed. */
const twoHyphens = 'Options begin with two hyphens, such as --format.';

function describe(error: unknown): string {
  if (error instanceof AliasNotFoundError) return `There is no such option. ${twoHyphens}`;
  if (error instanceof FlagNotFoundError) {
    const { input, corrections } = error;
    if (corrections.length === 0) return 'There is no such option.';
    return `There is no option --${input}: did you mean --${corrections.join(' or --')}?`;
  }
  if (error instanceof EnumValidationError) {
    return `--${error.externalFlagName} must be ${error.values.join(' or ')}.`;
  }
  if (error instanceof ArgumentParseError) {
    const { externalFlagNameOrPlaceholder: name, exception } = error;
    return `${name}: ${exception instanceof CliError ? exception.message : 'cannot be read'}.`;
  }
  if (error instanceof UnsatisfiedFlagError) return `--${error.externalFlagName} needs a value.`;
  if (error instanceof UnexpectedFlagError) return `--${error.externalFlagName} can be given only once.`;
  if (error instanceof UnsatisfiedPositionalError) return `<${error.placeholder}> is missing.`;
  if (error instanceof UnexpectedPositionalError) {
    return `There are too many arguments: at most ${error.expectedCount} fit. ${twoHyphens}`;
  }
  return 'The arguments do not fit.';
}
