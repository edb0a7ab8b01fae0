import { buildRouteMap } from '@stricli/core';
import { ExchangeClient } from '../../../client/exchange-client.ts';
import { createKeyRing } from '../../../credentials/create-key-ring.ts';
import { defineCredentials, secretKeysOf } from '../../../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import type { JsonObject } from '../../../internal/json.ts';
import { createKeyRotation, type KeyRotation } from '../../../keys/create-key-rotation.ts';
import type { KeyStorage } from '../../../keys/rotation-state.ts';
import type { KeyStatus, RotationStatus } from '../../../keys/rotation-steps.ts';
import { storedKeys } from '../../../keys/stored-keys.ts';
import { readDeployment, requireAddress } from '../inputs/configuration.ts';
import { readInput, readJsonObject } from '../inputs/input.ts';
import { parseStoreAddress, storeOptions, withStore } from '../inputs/open-store.ts';
import { defineCommand } from '../terminal/command.ts';
import { type CliContext, CliError, exitCodes } from '../terminal/context.ts';
import { type FlagsOf, formatFlags, storeFlag, tableFlags, textFlag, toggle } from '../terminal/flags.ts';
import { type Output, openOutput } from '../terminal/output.ts';
import { showReply } from '../terminal/replies.ts';
import type { Paint } from '../terminal/terminal-text.ts';

const flags = {
  keys: storeFlag('The store of the keys'),
  record: textFlag.optional('key', 'The key of their record, if it is not its default'),
  ...tableFlags,
  ...formatFlags,
};
type Flags = FlagsOf<typeof flags>;

const request = defineCommand({
  brief: 'Ask the service for new keys',
  about:
    'Asks for new keys, and signs the request with the current ones. The store has the request before and after it is sent. The keys come by e-mail, as a link that works once. Exits with 3 if the service may have got the request: it is then not repeated unless you give --again.',
  examples: [
    'partner-exchange keys request --keys keys.sqlite --email dev@acme.example',
    'partner-exchange keys request --keys keys.sqlite --email dev@acme.example --again',
  ],
  json: '{ status, body }, the body without possible credentials',
  flags: {
    email: textFlag.required('address', 'Where the link to the keys is sent'),
    partnerCode: textFlag.optional(
      'code',
      'The code of the partner (default: PARTNER_CODE, or that of the keys)',
    ),
    again: toggle('Ask although keys were asked for: a link that was sent may stop working'),
    ...flags,
  },
  async run(context, flags) {
    const output = openOutput(context, flags);
    const deployment = readDeployment(context);
    requireAddress(deployment, 'regenerateKeys');
    const { email, again, partnerCode = context.env.PARTNER_CODE } = flags;
    return await withKeys(context, flags, async (storage) => {
      const ring = createKeyRing({ load: () => rotation.credentials() });
      const exchange = new ExchangeClient({ deployment, credentials: ring, fetch: context.fetch });
      const rotation: KeyRotation = createKeyRotation({ exchange, storage, now: context.now });
      await hideKeys(context, rotation);
      const partner = { email, ...(partnerCode && { partner_code: partnerCode }) };
      const reply = await rotation.request(partner, { again, signal: context.signal });
      showReply(output, 'accepted', reply);
      sayNext(output, flags, 'requested');
      return exitCodes.ok;
    });
  },
});

const receive = defineCommand({
  brief: 'Store new keys, or the first ones',
  about:
    'Stores the keys that the link shows, before anything is said. Asks for them on a terminal, and hides what is typed; otherwise stdin is JSON with the members of credentials. New keys verify from now on, and sign once they are promoted; the first keys sign at once. Keys that were pasted wrong are mended by receiving the right ones, also after promote.',
  examples: [
    'partner-exchange keys receive --keys keys.sqlite',
    'partner-exchange keys receive --keys env:DATABASE_URL < credentials.json',
  ],
  json: 'What rotation.status() returns',
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    const { keys, record: key, schema, table } = flags;
    const address = parseStoreAddress(context, keys);
    return await withStore(context, { address, schema, table }, async (store) => {
      const storage = storedKeys({ store, key });
      // The link shows the keys once, so a store that cannot be written must fail before somebody opens it.
      await storage.update(() => undefined);
      const rotation = createKeyRotation({ storage, now: context.now });
      await rotation.status();
      await rotation.receive(await readNewKeys(context));
      return await showStatus(output, flags, rotation);
    });
  },
});

const promote = defineCommand({
  brief: 'Sign with the received keys',
  about: 'Makes the received keys the ones that sign. Those before them go on verifying for a day.',
  examples: ['partner-exchange keys promote --keys keys.sqlite'],
  json: 'What rotation.status() returns',
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    return await withKeys(context, flags, async (storage) => {
      const rotation = createKeyRotation({ storage, now: context.now });
      await rotation.promote();
      return await showStatus(output, flags, rotation);
    });
  },
});

const status = defineCommand({
  brief: 'Say where the rotation stands',
  about: 'Says which step comes next, and which generations of keys there are. Shows no key.',
  examples: ['partner-exchange keys status --keys keys.sqlite --format json'],
  json: 'What rotation.status() returns',
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    return await withKeys(context, flags, (storage) =>
      showStatus(output, flags, createKeyRotation({ storage, now: context.now })),
    );
  },
});

export default buildRouteMap({
  routes: { request, receive, promote, status },
  docs: { brief: 'Replace your keys without losing any' },
});

async function showStatus(output: Output, flags: Flags, rotation: KeyRotation) {
  const status = await rotation.status();
  output.result(status, (paint) => describeRotation(status, paint));
  sayNext(output, flags, status.step);
  return exitCodes.ok;
}

function sayNext(output: Output, flags: Flags, step: RotationStatus['step']): void {
  const { keys, record, schema, table } = flags;
  output.status(`Next: ${nextStep(step, storeOptions({ keys, record, schema, table }))}`);
}

/** Works with a store that is there: at a misspelt address nothing is made. */
function withKeys<Result>(
  context: CliContext,
  { keys: at, record: key, schema, table }: Flags,
  work: (storage: KeyStorage) => Promise<Result>,
): Promise<Result> {
  const address = parseStoreAddress(context, at);
  return withStore(context, { address, mustExist: true, schema, table }, (store) =>
    work(storedKeys({ store, key })),
  );
}

async function hideKeys({ secrets }: CliContext, rotation: KeyRotation): Promise<void> {
  const { verifying }: { readonly verifying: readonly PartnerCredentials[] } = await rotation.credentials();
  for (const text of verifying.flatMap((credentials) => [...secretKeysOf(credentials)])) secrets.add(text);
}

const questions = [
  ['partnerPublicKey', 'Public key (pk_partner_…)'],
  ['partnerSecretKey', 'Secret key (sk_partner_…)'],
  ['merchantSecretKey', 'Merchant secret key (empty: as before, or none)'],
  ['partnerId', 'Partner ID (empty: as before, or none)'],
  ['partnerCode', 'Partner code (empty: as before, or none)'],
] as const satisfies readonly (readonly [keyof PartnerCredentials, string])[];

/** New keys: asked for on a terminal, hidden, or JSON on stdin with the members of credentials. */
async function readNewKeys(context: CliContext): Promise<PartnerCredentials> {
  const isAsked = context.stdin.isTTY && context.stderr.isTTY;
  const members: JsonObject = isAsked
    ? await askForKeys(context)
    : readJsonObject(await readInput(context, undefined), 'stdin');
  for (const name of ['partnerSecretKey', 'merchantSecretKey']) {
    // Hidden before they are checked: an error must not show them.
    const text = members[name];
    if (typeof text === 'string') context.secrets.add(text);
  }
  // Sound: defineCredentials checks every member, and refuses others.
  const credentials = defineCredentials(members as unknown as PartnerCredentials);
  for (const text of secretKeysOf(credentials)) context.secrets.add(text);
  return credentials;
}

async function askForKeys(context: CliContext): Promise<Record<string, string>> {
  const members: Record<string, string> = {};
  for (const [name, question] of questions) {
    const answer = await context.askHidden(question);
    if (answer === undefined) {
      throw new CliError('Stopped before anything was done.', { exitCode: exitCodes.stopped });
    }
    if (answer.trim() !== '') members[name] = answer.trim();
  }
  return members;
}

function describeRotation({ step, requestedAt, keys }: RotationStatus, paint: Paint): string[] {
  const asked = requestedAt === undefined ? '' : `, asked for at ${timeOf(requestedAt)}`;
  return [`${paint('bold', step)}: ${meanings[step]}${asked}`, ...keys.map(describeKey)];
}

function nextStep(step: RotationStatus['step'], store: string): string {
  const call = (command: string) => `partner-exchange keys ${command} ${store}`;
  switch (step) {
    case 'empty':
      return `open the link in the e-mail, once, and run: ${call('receive')}`;
    case 'idle':
      return `nothing. For new keys: ${call('request')} --email <address>`;
    case 'unknown':
      return `look for the e-mail. If it came, open its link and run: ${call('receive')} If not, ask with --again.`;
    case 'requested':
      return `open the link in the e-mail, once, and run: ${call('receive')}`;
    case 'received':
      return `let every program read the keys again, and run: ${call('promote')}`;
  }
}

const meanings: Readonly<Record<RotationStatus['step'], string>> = {
  empty: 'there are no keys',
  idle: 'nothing is under way',
  unknown: 'whether the service got the request for new keys is not known',
  requested: 'the service sends a link to new keys',
  received: 'the new keys are stored; they verify, and do not sign yet',
};

function describeKey({ generation, role, receivedAt, verifiesUntil }: KeyStatus): string {
  const until = verifiesUntil === undefined ? '' : `, verifies until ${timeOf(verifiesUntil)}`;
  return `  ${generation} ${role.padEnd(8)} received ${timeOf(receivedAt)}${until}`;
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
