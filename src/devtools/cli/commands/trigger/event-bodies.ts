import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, tryParse } from '../../../../internal/json.ts';
import { decodeUtf8 } from '../../../../internal/utf8.ts';
import { readSavedRequest } from '../../deliveries/saved-deliveries.ts';
import { inputName, readExactJsonObject, readInput } from '../../inputs/input.ts';
import { type CliContext, CliError, exitCodes } from '../../terminal/context.ts';
import { withoutSecrets } from '../../terminal/secret-guard.ts';

/** Reads event bodies from a file or stdin: a JSON object, an array of objects, an object on each line, or a saved delivery. */
export async function readEventBodies(
  context: CliContext,
  path: string,
): Promise<readonly [JsonObject, ...JsonObject[]]> {
  const name = inputName(path);
  return parseBodies(readSavedRequest(await readInput(context, path), name).body, name);
}

function parseBodies(bytes: Uint8Array, name: string): readonly [JsonObject, ...JsonObject[]] {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new CliError(`${name} is not JSON in UTF-8: check the file.`);
  const value = tryParse(text);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  // Each object is read from its own text, so that a loss in it is found.
  const texts =
    value === undefined && lines.length > 1
      ? lines.map((line, index) => ({ text: line, name: `${name}, line ${index + 1}` }))
      : [{ text, name }];
  const [first, ...more] = texts.flatMap((each) => objectsIn(each));
  if (first !== undefined) return [first, ...more];
  throw new CliError(`${name} holds no event: give one JSON object, an array of them, or one on each line.`);
}

function objectsIn({ text, name }: { text: string; name: string }): JsonObject[] {
  const value = tryParse(text);
  if (!Array.isArray(value)) return [readExactJsonObject(Buffer.from(text), name)];
  // The array becomes a member, so that the checks see all of it.
  const { events } = readExactJsonObject(Buffer.from(`{"events":${text}}`), name);
  return (Array.isArray(events) ? events : []).map((each, index) => {
    if (isJsonObject(each)) return each;
    throw new CliError(`${name}: the element ${index} is not an object: an event is one.`);
  });
}

/** Refuses `--edit` before any work if it cannot be done. */
export function requireEditor({ stdin, stdout, env }: CliContext): string {
  if (!stdin.isTTY || !stdout.isTTY) {
    throw new CliError('--edit needs a terminal: change members with --set, or give a file with --from.');
  }
  const editor = env.VISUAL || env.EDITOR;
  if (editor) return editor;
  throw new CliError('--edit needs an editor: set EDITOR, for example EDITOR=nano.');
}

/**
 * Has the user change event bodies in an editor.
 *
 * @throws {CliError} if the text was left as it was, or was emptied
 */
export async function editBodies(
  context: CliContext,
  editor: string,
  bodies: readonly JsonObject[],
): Promise<readonly [JsonObject, ...JsonObject[]]> {
  // Events hold personal data: the folder is of mode 0700.
  const folder = await mkdtemp(join(tmpdir(), 'partner-exchange-'));
  try {
    const file = join(folder, 'event.json');
    const text = `${JSON.stringify(bodies.length === 1 ? bodies[0] : bodies, null, 2)}\n`;
    await writeFile(file, text, { mode: 0o600 });
    for (;;) {
      const code = await runEditor(context, editor, file);
      context.signal.throwIfAborted();
      if (code !== 0) throw new CliError(`The editor ended with ${code}: nothing was posted.`);
      const bytes = await readFile(file);
      const edited = bytes.toString();
      if (edited.trim() === '') throw nothingPosted('the text is empty');
      if (edited === text) throw nothingPosted('nothing was changed. Leave --edit out to post it as it is');
      try {
        return parseBodies(bytes, 'The edited text');
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        if (!(await context.confirm(`${error.message} Edit it again?`)))
          throw nothingPosted('it cannot be read');
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts the editor in a shell, since it may have arguments: `code --wait`. It gets none of the keys. */
function runEditor({ runCommand, env, platform }: CliContext, editor: string, file: string): Promise<number> {
  const argument = platform === 'win32' ? '"%EVENT_FILE%"' : '"$EVENT_FILE"';
  return runCommand(`${editor} ${argument}`, { ...withoutSecrets(env), EVENT_FILE: file });
}

function nothingPosted(reason: string): CliError {
  return new CliError(`Nothing was posted: ${reason}.`, { exitCode: exitCodes.stopped });
}
