import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buildRouteMap } from '@stricli/core';
import { MessengerClient } from '../../../client/messenger-client.ts';
import type { Operation } from '../../../deployment/operations.ts';
import { printableText } from '../../../internal/printable-text.ts';
import { decodeUtf8 } from '../../../internal/utf8.ts';
import { readConfiguration, requireAddress } from '../inputs/configuration.ts';
import { inputName, readInput, secretOrAsk } from '../inputs/input.ts';
import { defineCommand } from '../terminal/command.ts';
import { type CliContext, CliError, exitCodes } from '../terminal/context.ts';
import { arg, formatFlags, optionalFile, textFlag } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';
import { keepReply } from '../terminal/replies.ts';

const key = defineCommand({
  brief: 'Generate the API key of a device',
  about:
    'Generates the key with MESSENGER_MASTER_KEY, and writes the reply into a new file that only you can read. The key is never printed, and no operation of the service lists keys: keep the file. Needs PARTNER_EXCHANGE_MESSENGER_BASE_URL.',
  examples: ['partner-exchange messenger key 1001 --save device-1001.json'],
  json: '{ device, file }, where the reply is kept',
  flags: {
    save: textFlag.required('file', 'Where the reply with the key is kept'),
    ...formatFlags,
  },
  args: [arg('device', 'messenger_device_no: a number of your choice')],
  async run(context, flags, device) {
    const output = openOutput(context, flags);
    const { deployment, masterKey: value } = await readConfiguration(context);
    requireAddress(deployment, 'generateApiKey');
    const question = 'Master key of the messenger';
    const masterKey = await secretOrAsk(context, { variable: 'MESSENGER_MASTER_KEY', value, question });
    const messenger = new MessengerClient({ deployment, masterKey, fetch: context.fetch });
    const isKept = await keepReply(resolve(context.cwd, flags.save), async () => {
      const request = { messenger_device_no: device };
      return (await messenger.generateApiKey(request, { signal: context.signal })).body;
    });
    if (!isKept) {
      const message = 'The reply was empty: ask the operator of the messenger where the key is shown.';
      throw new CliError(message, { exitCode: exitCodes.findings });
    }
    output.result({ device, file: flags.save }, (paint) => [
      `${paint('green', 'kept')} the reply in ${printableText(flags.save)}, for you alone.`,
    ]);
    output.status(
      'Next: set MESSENGER_API_KEY to the key in it, and run: partner-exchange messenger scan --save scan.html.',
    );
    return exitCodes.ok;
  },
});

const scan = defineCommand({
  brief: 'Write the page that pairs a device',
  about:
    'Writes a page into a new file that only you can read. It leads a browser to the address that pairs the device, which holds the API key: remove it afterwards. Needs MESSENGER_API_KEY, or asks for it.',
  examples: ['partner-exchange messenger scan --save scan.html'],
  json: '{ file }, the page',
  flags: { save: textFlag.required('file', 'Where the page is kept'), ...formatFlags },
  async run(context, flags) {
    const output = openOutput(context, flags);
    const address = (await openDevice(context, 'scanDevice')).scanDeviceUrl();
    const path = resolve(context.cwd, flags.save);
    await writeFile(path, pageLeadingTo(address), { mode: 0o600, flag: 'wx' });
    output.result({ file: flags.save }, (paint) => [
      `${paint('green', 'kept')} the page in ${printableText(flags.save)}, for you alone.`,
    ]);
    output.status(
      'Next: open it in a browser, scan what it shows with the device, remove the page, and run: partner-exchange messenger send.',
    );
    return exitCodes.ok;
  },
});

/** Without a referrer, since the address holds the key. A parsed address holds no quotation mark. */
function pageLeadingTo(url: string): string {
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>partner-exchange</title><meta http-equiv="refresh" content="0; url=${url.replaceAll('&', '&amp;')}">\n`;
}

const send = defineCommand({
  brief: 'Send a message',
  about:
    'Sends the text of a file or of stdin. It is never an argument, since it may be a one-time code. Exits with 3 if the message may or may not have been sent.',
  examples: [
    'partner-exchange messenger send +2348012345678 message.txt',
    'make-code | partner-exchange messenger send +2348012345678',
  ],
  json: '{ status }',
  flags: {
    verifyCheck: {
      kind: 'boolean',
      brief: 'verify_check of the request, whose meaning is not published',
      optional: true,
    },
    ...formatFlags,
  },
  args: [arg('phone', 'Phone number, in the international form'), optionalFile('The text (default: stdin)')],
  async run(context, flags, phone, path) {
    const output = openOutput(context, flags);
    const messenger = await openDevice(context, 'sendMessage');
    const message = readMessage(await readInput(context, path), inputName(path));
    const { verifyCheck: verify_check } = flags;
    const request = { to_phone: phone, message, ...(verify_check !== undefined && { verify_check }) };
    const { status } = await messenger.sendMessage(request, { signal: context.signal });
    // The body of the reply is left out: it may repeat the message.
    output.result({ status }, (paint) => [`${paint('green', 'sent')} with status ${status}`]);
    return exitCodes.ok;
  },
});

export default buildRouteMap({
  routes: { key, scan, send },
  docs: { brief: 'Keys, devices and messages of the messenger service' },
});

/** A client with the API key of a device, which is asked for if it is not set. */
async function openDevice(context: CliContext, operation: Operation): Promise<MessengerClient> {
  const { deployment, apiKey: value } = await readConfiguration(context);
  requireAddress(deployment, operation);
  const question = 'API key of the device';
  const apiKey = await secretOrAsk(context, { variable: 'MESSENGER_API_KEY', value, question });
  return new MessengerClient({ deployment, apiKey, fetch: context.fetch });
}

function readMessage(bytes: Uint8Array, name: string): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new CliError(`${name} is not UTF-8 text: save it as UTF-8.`);
  // Editors begin a text with a byte order mark, and end it with a line break, as `echo` does: no part of the message.
  const message = text.replace(/^\ufeff/, '').replace(/\r?\n$/, '');
  if (message.trim() === '') throw new CliError(`${name} is empty: there is no message to send.`);
  return message;
}
