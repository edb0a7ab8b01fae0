import { buildRouteMap } from '@stricli/core';
import type { MessengerCheckFlags } from '../commands/messenger-check.ts';
import type { MessengerKeyFlags } from '../commands/messenger-key.ts';
import type { MessengerScanFlags } from '../commands/messenger-scan.ts';
import type { MessengerSendFlags } from '../commands/messenger-send.ts';
import { commonFlags, formatFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { synopses } from './synopses.ts';

const keyCommand = defineCommand<MessengerKeyFlags, [device: string]>({
  brief: 'Generate the API key of a device',
  about:
    'Generates the key with MESSENGER_MASTER_KEY and writes the reply into a new file that only you can read: nothing lists keys, so keep it. It is never printed. Needs PARTNER_EXCHANGE_MESSENGER_BASE_URL.',
  examples: ['partner-exchange messenger key 1001 --save device-1001.json'],
  parameters: {
    flags: {
      save: {
        kind: 'parsed',
        parse: String,
        placeholder: 'file',
        brief: 'Where the reply with the key is kept',
      },
      ...formatFlags,
      ...commonFlags,
    },
    positional: {
      kind: 'tuple',
      parameters: [
        { brief: 'messenger_device_no: a number of your choice', placeholder: 'device', parse: String },
      ],
    },
  },
  load: async () => (await import('../commands/messenger-key.ts')).messengerKey,
});

const scanCommand = defineCommand<MessengerScanFlags>({
  brief: 'Show the address that pairs a device',
  about:
    'Shows the address as a QR code, which holds the API key: let only the owner of the device see it. With --open the browser opens it. Needs MESSENGER_API_KEY, or asks for it.',
  examples: ['partner-exchange messenger scan', 'partner-exchange messenger scan --open'],
  parameters: {
    flags: {
      open: { kind: 'boolean', brief: 'Open the browser instead', default: false, withNegated: false },
      ...commonFlags,
    },
  },
  load: async () => (await import('../commands/messenger-scan.ts')).messengerScan,
});

const checkCommand = defineCommand<MessengerCheckFlags, [phone: string]>({
  brief: 'Ask whether a number is on the messenger',
  about: 'Needs PARTNER_EXCHANGE_PATH_CHECK_NUMBER, since the path is not published, and MESSENGER_API_KEY.',
  examples: ['partner-exchange messenger check +2348012345678'],
  parameters: {
    flags: { ...formatFlags, ...commonFlags },
    positional: {
      kind: 'tuple',
      parameters: [{ brief: 'Phone number, in the international form', placeholder: 'phone', parse: String }],
    },
  },
  load: async () => (await import('../commands/messenger-check.ts')).messengerCheck,
});

const sendCommand = defineCommand<MessengerSendFlags, [phone: string, path?: string]>({
  brief: 'Send a message',
  about:
    'Sends the text of a file or of stdin. It is never an argument, since it may be a one-time code. Exits with 3 if the message may or may not have been sent.',
  examples: [
    'partner-exchange messenger send +2348012345678 message.txt',
    'make-code | partner-exchange messenger send +2348012345678',
  ],
  parameters: {
    flags: {
      verifyCheck: {
        kind: 'boolean',
        brief: 'verify_check of the request, whose meaning is not published',
        optional: true,
      },
      ...formatFlags,
      ...commonFlags,
    },
    positional: {
      kind: 'tuple',
      parameters: [
        { brief: 'Phone number, in the international form', placeholder: 'phone', parse: String },
        { brief: 'The text (default: stdin)', placeholder: 'file', parse: String, optional: true },
      ],
    },
  },
  load: async () => (await import('../commands/messenger-send.ts')).messengerSend,
});

export const messengerRoutes = buildRouteMap({
  routes: { key: keyCommand, scan: scanCommand, check: checkCommand, send: sendCommand },
  docs: { brief: synopses.messenger.brief },
});
