import { defineCredentials } from '../../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { secretTexts } from '../../credentials/secret-texts.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';
import { readInput } from './read-input.ts';
import { readJsonObject } from './read-json.ts';

const questions = [
  ['partnerPublicKey', 'Public key (pk_partner_…)'],
  ['partnerSecretKey', 'Secret key (sk_partner_…)'],
  ['merchantSecretKey', 'Merchant secret key (empty: as before, or none)'],
  ['partnerId', 'Partner ID (empty: as before, or none)'],
  ['partnerCode', 'Partner code (empty: as before, or none)'],
] as const satisfies readonly (readonly [keyof PartnerCredentials, string])[];

/** New keys: asked for on a terminal, hidden, or JSON on stdin with the members of credentials. */
export async function readNewKeys(context: CliContext): Promise<PartnerCredentials> {
  const isAsked = context.stdin.isTTY && context.stderr.isTTY;
  const given: JsonObject = isAsked
    ? await ask(context)
    : readJsonObject(await readInput(context, undefined), 'stdin');
  for (const name of ['partnerSecretKey', 'merchantSecretKey']) {
    // Before they are checked: not even an error may show them.
    const text = given[name];
    if (typeof text === 'string') context.secrets.add(text);
  }
  // Sound: defineCredentials checks every member, and refuses others.
  const credentials = defineCredentials(given as unknown as PartnerCredentials);
  for (const text of secretTexts(credentials)) context.secrets.add(text);
  return credentials;
}

async function ask(context: CliContext): Promise<Record<string, string>> {
  const given: Record<string, string> = {};
  for (const [name, question] of questions) {
    const answer = await context.askHidden(question);
    if (answer === undefined) {
      throw new CliError('Stopped before anything was done.', { exitCode: exitCodes.stopped });
    }
    if (answer.trim() !== '') given[name] = answer.trim();
  }
  return given;
}
