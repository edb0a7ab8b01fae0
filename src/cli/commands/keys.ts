import { resolve } from 'node:path';
import { createKeyRing } from '../../credentials/create-key-ring.ts';
import type { PartnerCredentials } from '../../credentials/partner-credentials.ts';
import { secretTexts } from '../../credentials/secret-texts.ts';
import { isKeyError } from '../../errors/key-error.ts';
import { ExchangeClient } from '../../exchange/exchange-client.ts';
import { printableText } from '../../redaction/printable-text.ts';
import { createKeyRotation, type KeyRotation } from '../../rotation/create-key-rotation.ts';
import { keyFile } from '../../rotation/key-file.ts';
import type { CliContext } from '../context/cli-context.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';
import { readDeployment } from '../input/read-keys.ts';
import { readNewKeys } from '../input/read-new-keys.ts';
import { requireAddress } from '../input/require-address.ts';
import { describeRotation, nextStep } from '../output/describe-rotation.ts';
import { type Output, openOutput } from '../output/output.ts';
import { bodyLine, shownBody } from '../output/reply-body.ts';
import type { CommonFlags, FormatFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

/** Flags of every step: the file is that of a rotation, and is made by the first `receive`. */
export interface RotationFlags extends CommonFlags, FormatFlags {
  readonly keys: string;
}

export interface KeysRequestFlags extends RotationFlags {
  readonly email: string;
  readonly partnerCode?: string | undefined;
  readonly again: boolean;
  readonly scheme?: string | undefined;
}

/** Asks the service for new keys. */
export const keysRequest: RunCommand<KeysRequestFlags> = async (context, flags) => {
  const output = openOutput(context, flags);
  const deployment = readDeployment(context, flags);
  requireAddress(deployment, 'regenerateKeys');
  const { email, again, partnerCode = context.env.PARTNER_CODE } = flags;
  return await explained(output, flags, async () => {
    const ring = createKeyRing({ load: () => rotation.credentials() });
    const exchange = new ExchangeClient({ deployment, credentials: ring, fetch: context.fetch });
    const rotation: KeyRotation = rotationOf(context, flags, exchange);
    await hideKeys(context, rotation);
    const partner = { email, ...(partnerCode && { partner_code: partnerCode }) };
    const { status, body } = await rotation.request(partner, { again, signal: context.signal });
    output.result({ status, body: shownBody(body) }, (paint) => [
      `${paint('green', 'accepted')} with status ${status}: ${bodyLine(body)}`,
    ]);
    sayNext(output, flags, 'requested');
    return exitCodes.ok;
  });
};

/** Stores new keys, before anything is said. */
export const keysReceive: RunCommand<RotationFlags> = async (context, flags) => {
  const output = openOutput(context, flags);
  return await explained(output, flags, async () => {
    const storage = storageOf(context, flags);
    // The link shows the keys once: a file that cannot be written should show before somebody opens it.
    await storage.update(() => undefined);
    const rotation = createKeyRotation({ storage, now: context.now });
    await rotation.status();
    await rotation.receive(await readNewKeys(context));
    return await showStatus(output, flags, rotation);
  });
};

/** Makes the received keys the ones that sign. */
export const keysPromote: RunCommand<RotationFlags> = async (context, flags) => {
  const output = openOutput(context, flags);
  return await explained(output, flags, async () => {
    const rotation = rotationOf(context, flags);
    await rotation.promote();
    return await showStatus(output, flags, rotation);
  });
};

/** Says where the rotation stands. */
export const keysStatus: RunCommand<RotationFlags> = async (context, flags) => {
  const output = openOutput(context, flags);
  return await explained(output, flags, () => showStatus(output, flags, rotationOf(context, flags)));
};

async function showStatus(output: Output, flags: RotationFlags, rotation: KeyRotation) {
  const status = await rotation.status();
  output.result(status, (paint) => describeRotation(status, paint));
  sayNext(output, flags, status.step);
  return exitCodes.ok;
}

function sayNext(output: Output, { keys }: RotationFlags, step: Parameters<typeof nextStep>[0]): void {
  output.say(`Next: ${nextStep(step, printableText(keys))}`);
}

function storageOf({ cwd }: CliContext, { keys }: RotationFlags) {
  return keyFile({ path: resolve(cwd, keys) });
}

function rotationOf(context: CliContext, flags: RotationFlags, exchange?: ExchangeClient): KeyRotation {
  return createKeyRotation({ exchange, storage: storageOf(context, flags), now: context.now });
}

async function hideKeys({ secrets }: CliContext, rotation: KeyRotation): Promise<void> {
  const { verifying }: { readonly verifying: readonly PartnerCredentials[] } = await rotation.credentials();
  for (const text of verifying.flatMap((each) => [...secretTexts(each)])) secrets.add(text);
}

/** Says what to do where the rotation says which function to call. */
async function explained<Result>(
  output: Output,
  { keys }: RotationFlags,
  work: () => Promise<Result>,
): Promise<Result> {
  const file = printableText(keys);
  try {
    return await work();
  } catch (error) {
    if (!isKeyError(error)) throw error;
    if (error.code === 'key_storage_invalid') {
      const advice = `To begin with credentials from another file: partner-exchange keys receive --keys new-file.json < credentials.json`;
      throw new CliError(`${file} is not the key file of a rotation. ${advice}`, { cause: error });
    }
    if (error.code === 'keys_unavailable') {
      throw new CliError(`${file} holds no keys yet. Run: partner-exchange keys receive --keys ${file}`, {
        cause: error,
      });
    }
    if (output.format === 'text')
      output.say(`See where the rotation stands: partner-exchange keys status --keys ${file}`);
    throw error;
  }
}
