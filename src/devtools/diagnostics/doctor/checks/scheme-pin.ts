import { readTextFile } from '../../../../deployment/environment-variables.ts';
import { isConfigurationError, isSignatureError, whatFailed } from '../../../../errors/errors.ts';
import { isJsonObject } from '../../../../internal/json.ts';
import { type CheckResult, skipped } from '../../check-result.ts';
import { normalizeScheme } from '../../detection/scheme-space.ts';
import { checkPin } from '../../pin/pin-scheme.ts';
import { type Check, fail, ok, warning } from '../check.ts';
import type { DoctorContext } from '../doctor-context.ts';

const guesses = [
  'signature-construction',
  'signature-serialization',
  'signature-encoding',
  'signature-key',
] as const;

/** Whether samples prove the configured signature scheme. */
export const schemePin: Check = {
  id: 'signature-scheme',
  run(context) {
    const { deployment, credentials, environment } = context;
    if (deployment === undefined) return skipped('The environment cannot be read.');
    const pin = context.pin ?? pinOfEnvironment(context);
    if (pin === undefined) {
      return warning(
        'Nothing proves the signature scheme: it is a guess until a body that the service signed fits it.',
        'Capture a signed body, find its scheme with detectScheme, and keep both with pinScheme (docs/guides/find-the-scheme.md).',
        ...guesses,
      );
    }
    if (credentials === undefined) {
      const why = isConfigurationError(environment) ? 'cannot be read' : 'are missing';
      return skipped(`The keys ${why}, and the pin needs them.`);
    }
    return check(pin, context);
  },
};

function check(pin: unknown, { deployment, credentials, samples }: DoctorContext): CheckResult {
  try {
    const checked = checkPin(pin, { credentials, samples });
    if (deployment !== undefined && !isSame(checked.scheme, deployment.signature)) {
      return fail(
        'The deployment signs under another scheme than the pin proves.',
        'Set signature of defineDeployment to the scheme of the pin.',
        ...guesses,
      );
    }
    const further = samples.length === 0 ? '' : ` and ${samples.length} further`;
    return ok(`The scheme fits all ${checked.fixtures} samples of its pin${further}.`);
  } catch (error) {
    if (!isSignatureError(error) && !isConfigurationError(error)) throw error;
    return fail(
      whatFailed(error),
      'If the keys were changed, give their old ones too or capture new samples; otherwise run detectScheme again.',
      ...guesses,
    );
  }
}

function pinOfEnvironment({ env, environment }: DoctorContext): unknown {
  // The check of the environment reports it.
  if (isConfigurationError(environment)) return undefined;
  const file: unknown = Reflect.get(env, 'PARTNER_EXCHANGE_SCHEME_FILE');
  const text: unknown = Reflect.get(env, 'PARTNER_EXCHANGE_SCHEME');
  const json = typeof file === 'string' && file !== '' ? readTextFile(file) : text;
  if (typeof json !== 'string' || json === '') return undefined;
  const value: unknown = JSON.parse(json);
  return isJsonObject(value) && 'fixtures' in value ? value : undefined;
}

function isSame(
  first: Parameters<typeof normalizeScheme>[0],
  second: Parameters<typeof normalizeScheme>[0],
): boolean {
  return JSON.stringify(normalizeScheme(first)) === JSON.stringify(normalizeScheme(second));
}
