import { defineOptions, type OptionTable, value } from '../internal/options.ts';
import { checkScheme, defaultScheme, type SignatureScheme } from '../signature/signature-scheme.ts';
import type { Deployment } from './define-deployment.ts';
import { checkEventStatuses } from './event-statuses.ts';
import { checkWireNames } from './wire-names.ts';

const readPart = defineOptions(
  'deployment',
  {
    // Sound: it checks anything.
    signature: value((given) => checkScheme(given as SignatureScheme), { default: defaultScheme }),
    wireNames: checkWireNames,
    eventStatuses: checkEventStatuses,
  } satisfies OptionTable<Partial<Pick<Deployment, 'signature' | 'wireNames' | 'eventStatuses'>>>,
  'invalid_deployment',
);

/**
 * The row of an option `deployment` that is a whole deployment, or the parts of it that signed bodies need.
 *
 * @throws {ConfigurationError} `invalid_deployment` or `invalid_scheme`
 */
export function readSigningPart(given: unknown = {}): ReturnType<typeof readPart> {
  if (typeof given !== 'object' || given === null || !('paths' in given)) return readPart(given);
  // Sound: it checks each. The other members of a whole deployment have been checked.
  const { signature, wireNames, eventStatuses } = given as Partial<Deployment>;
  return readPart({ signature, wireNames, eventStatuses });
}
