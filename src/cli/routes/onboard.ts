import type { OnboardFlags } from '../commands/onboard.ts';
import { commonFlags, formatFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { synopses } from './synopses.ts';

export const onboardCommand = defineCommand<OnboardFlags>({
  brief: synopses.onboard.brief,
  about:
    'Asks the service for keys. They come by e-mail, as a link that works once. Needs PARTNER_EXCHANGE_ONBOARDING_BASE_URL.',
  examples: ['partner-exchange onboard --partner-code acme --email dev@acme.example'],
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
        brief: 'A code of your choice (default: PARTNER_CODE)',
        optional: true,
      },
      ...formatFlags,
      ...commonFlags,
    },
  },
  load: async () => (await import('../commands/onboard.ts')).onboard,
});
