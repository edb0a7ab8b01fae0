import { findMisspelt } from '../../../config/check-spelling.ts';
import { environmentVariables, merchantPrefix } from '../../../config/environment-variables.ts';
import { isConfigurationError } from '../../../errors/configuration-error.ts';
import { type Examination, fail, ok, skip, warn } from '../examination.ts';

/** Whether `readEnvironment` can read the variables. */
export const environment: Examination = {
  id: 'environment',
  run({ env, environment: read }) {
    if (isConfigurationError(read)) {
      return fail(read.message, 'Set the variable as docs/configuration.md says.');
    }
    const set = Object.keys(env).filter(
      (name) =>
        Reflect.get(env, name) &&
        (name.startsWith(merchantPrefix) || environmentVariables.some((variable) => variable.name === name)),
    );
    if (set.length === 0) return skip('None of the variables is set: docs/configuration.md lists them.');
    return ok(`Set: ${set.join(', ')}.`);
  },
};

/** Whether a variable is nearly named like one of ours. */
export const environmentNames: Examination = {
  id: 'environment-names',
  run({ env }) {
    const misspelt = findMisspelt(env);
    if (misspelt.length === 0) return ok('No name is nearly that of a variable.');
    const found = misspelt.map(({ name, meant }) => `${name} is not read (${meant} is)`).join('; ');
    const fix = 'Rename it, or leave it if it belongs to another program.';
    return misspelt.some(({ isOurs }) => isOurs) ? fail(found, 'Rename it.') : warn(found, fix);
  },
};
