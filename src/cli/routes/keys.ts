import { buildRouteMap } from '@stricli/core';
import type { KeysRequestFlags, RotationFlags } from '../commands/keys.ts';
import { commonFlags, formatFlags, signingFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { synopses } from './synopses.ts';

const rotationFlags = {
  keys: {
    kind: 'parsed',
    parse: String,
    placeholder: 'file',
    brief: 'The key file of the rotation, made by the first receive (docs/keys.md)',
  },
  ...formatFlags,
  ...commonFlags,
} as const;

const requestCommand = defineCommand<KeysRequestFlags>({
  brief: 'Ask the service for new keys',
  about:
    'Asks for new keys, signed with the current ones, and notes that before and after. They come by e-mail, as a link that works once. Exits with 3 if the service may or may not have got it: then nothing asks again by itself.',
  examples: [
    'partner-exchange keys request --keys keys.json --email dev@acme.example',
    'partner-exchange keys request --keys keys.json --email dev@acme.example --again',
  ],
  parameters: {
    flags: {
      email: {
        kind: 'parsed',
        parse: String,
        placeholder: 'address',
        brief: 'Where the link to the keys is sent',
      },
      partnerCode: {
        kind: 'parsed',
        parse: String,
        placeholder: 'code',
        brief: 'The code of the partner (default: PARTNER_CODE, or that of the keys)',
        optional: true,
      },
      again: {
        kind: 'boolean',
        brief: 'Ask although keys were asked for: a link that was sent may stop working',
        default: false,
        withNegated: false,
      },
      scheme: signingFlags.scheme,
      ...rotationFlags,
    },
  },
  load: async () => (await import('../commands/keys.ts')).keysRequest,
});

const receiveCommand = defineCommand<RotationFlags>({
  brief: 'Store new keys, or the first ones',
  about:
    'Stores the keys that the link shows, before anything is said. Asks for them on a terminal, and hides what is typed; otherwise stdin is JSON with the members of credentials. New keys verify from now on, and sign once they are promoted; the first keys sign at once.',
  examples: [
    'partner-exchange keys receive --keys keys.json',
    'partner-exchange keys receive --keys keys.json < credentials.json',
  ],
  parameters: { flags: rotationFlags },
  load: async () => (await import('../commands/keys.ts')).keysReceive,
});

const promoteCommand = defineCommand<RotationFlags>({
  brief: 'Sign with the received keys',
  about: 'Makes the received keys the ones that sign. Those before them go on verifying for a day.',
  examples: ['partner-exchange keys promote --keys keys.json'],
  parameters: { flags: rotationFlags },
  load: async () => (await import('../commands/keys.ts')).keysPromote,
});

const statusCommand = defineCommand<RotationFlags>({
  brief: 'Say where the rotation stands',
  about: 'Says which step comes next, and which generations of keys there are. Shows no key.',
  examples: ['partner-exchange keys status --keys keys.json --format json'],
  parameters: { flags: rotationFlags },
  load: async () => (await import('../commands/keys.ts')).keysStatus,
});

export const keysRoutes = buildRouteMap({
  routes: {
    request: requestCommand,
    receive: receiveCommand,
    promote: promoteCommand,
    status: statusCommand,
  },
  docs: { brief: synopses.keys.brief },
});
