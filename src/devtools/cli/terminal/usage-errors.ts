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
import { nearestSpelling, proposal } from '../../../internal/nearest-name.ts';
import { CliError } from './context.ts';

/**
 * The texts of stricli. A typed word is repeated only if a known name is near: it may be a key in the wrong place. Where
 * the first word is a group, names its commands if none is near.
 */
export function textFor({
  group,
  commands,
}: {
  group: string | undefined;
  commands: readonly string[];
}): ApplicationText {
  return {
    ...text_en,
    noCommandRegisteredForInput: ({ input, corrections }) => {
      // stricli proposes `start` for `port`.
      const names = corrections.map((name) => name.replaceAll('`', ''));
      const near = nearestSpelling(input, [...names, ...commands]);
      if (near === undefined && group !== undefined) {
        return withNextStep(
          `There is no such command. ${twoHyphens} The commands of ${group} are ${commands.join(', ')}.`,
        );
      }
      return withNextStep(
        near === undefined
          ? `There is no such command. ${twoHyphens}`
          : `There is no command \`${input}\`: did you mean \`${near}\`?`,
      );
    },
    // Before a command stricli finds names such as `--toString`, which every object has, among its own options.
    exceptionWhileRunningIntegrationFlag: () => withNextStep('There is no such option.'),
    exceptionWhileParsingArguments: (error) => withNextStep(describe(error)),
  };
}

function sentence(text: string): string {
  return text.endsWith('?') ? text : `${text}.`;
}

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
    const { externalFlagName, input, values } = error;
    return sentence(`--${externalFlagName} must be ${values.join(' or ')}${proposal(input, values)}`);
  }
  if (error instanceof ArgumentParseError) {
    const { externalFlagNameOrPlaceholder: name, exception } = error;
    return sentence(`${name}: ${exception instanceof CliError ? exception.message : 'cannot be read'}`);
  }
  if (error instanceof UnsatisfiedFlagError) return `--${error.externalFlagName} needs a value.`;
  if (error instanceof UnexpectedFlagError) return `--${error.externalFlagName} can be given only once.`;
  if (error instanceof UnsatisfiedPositionalError) return `<${error.placeholder}> is missing.`;
  if (error instanceof UnexpectedPositionalError) {
    return `There are too many arguments: at most ${error.expectedCount} fit. ${twoHyphens}`;
  }
  return 'The arguments do not fit.';
}
