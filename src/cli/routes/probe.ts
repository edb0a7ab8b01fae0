import type { ProbeFlags } from '../commands/probe.ts';
import { commonFlags, formatFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { webAddress } from './parse-flag.ts';
import { synopses } from './synopses.ts';

export const probeCommand = defineCommand<ProbeFlags>({
  brief: synopses.probe.brief,
  about:
    'Prints a small body to have signed and then searched with "detect". With --oracle it has a signing endpoint of the service sign it, with a throw-away secret (reported: POST body and secret, the reply is the signature).',
  examples: [
    'partner-exchange probe > probe.json',
    'partner-exchange probe --oracle https://onboarding.example/api/v1/no-auth/PartnerP2P/SignRequestSha512/',
  ],
  parameters: {
    flags: {
      oracle: {
        kind: 'parsed',
        parse: webAddress,
        placeholder: 'url',
        brief: 'Have this signing endpoint sign it, and search at once',
        optional: true,
      },
      ...formatFlags,
      ...commonFlags,
    },
  },
  load: async () => (await import('../commands/probe.ts')).probe,
});
