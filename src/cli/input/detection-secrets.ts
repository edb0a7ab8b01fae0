import { credentialVariables, merchantPrefix } from '../../config/environment-variables.ts';
import { membersOf } from '../../credentials/key-sets.ts';
import type { DetectionSecrets } from '../../diagnostics/detection/detection.ts';
import { isJsonObject } from '../../json/json-value.ts';
import type { CliContext } from '../context/cli-context.ts';
import type { Variables } from '../context/streams.ts';
import { generationsIn, isKeyFile } from './key-file.ts';
import { readJsonObject } from './read-json.ts';
import { readPrivateFile } from './read-private-file.ts';

/** The keys as they were given, unchecked: what is wrong with them is what `detect` and `explain` may find. */
export async function readDetectionSecrets(
  context: CliContext,
  { keys }: { readonly keys?: string | undefined },
): Promise<DetectionSecrets> {
  const given = keys === undefined ? ofEnvironment(context.env) : await ofFile(context, keys);
  const { merchantSecretKeys = {}, ...single } = given;
  for (const secret of [...Object.values(single), ...Object.values(merchantSecretKeys)]) {
    if (secret !== given.partnerPublicKey) context.secrets.add(secret);
  }
  return given;
}

function ofEnvironment(env: Variables): DetectionSecrets {
  const entries = credentialVariables.map(({ name, member }) => [member, env[name] || undefined]);
  const merchants = Object.entries(env)
    .filter(([name, value]) => name.startsWith(merchantPrefix) && value)
    .map(([name, value]) => [name.slice(merchantPrefix.length), value]);
  return secretsIn(Object.fromEntries([...entries, ['merchantSecretKeys', Object.fromEntries(merchants)]]));
}

async function ofFile(context: CliContext, path: string): Promise<DetectionSecrets> {
  const bytes = await readPrivateFile(context, path);
  const value = readJsonObject(bytes, path);
  if (!isKeyFile(value)) return secretsIn(value);
  const [signing] = await generationsIn(bytes, context.now);
  return secretsIn(signing === undefined ? {} : { ...membersOf(signing) });
}

/** The texts among the members that hold a key. */
function secretsIn(given: Readonly<Record<string, unknown>>): DetectionSecrets {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const merchants = Object.entries(isJsonObject(given.merchantSecretKeys) ? given.merchantSecretKeys : {});
  const texts = merchants.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  return {
    partnerSecretKey: text(given.partnerSecretKey),
    merchantSecretKey: text(given.merchantSecretKey),
    partnerPublicKey: text(given.partnerPublicKey),
    ...(texts.length > 0 && { merchantSecretKeys: Object.fromEntries(texts) }),
  };
}
