import type { OrderEventName } from '../../events/order-event.ts';
import type { TriggerFlags } from '../commands/trigger.ts';
import { commonFlags, formatFlags, signingFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { postFlags } from './delivery-flags.ts';
import { assignment, oneOf, wholeNumber } from './parse-flag.ts';
import { merchantFlag } from './signing-flags.ts';
import { eventNames } from './stories.ts';
import { synopses } from './synopses.ts';

export const triggerCommand = defineCommand<TriggerFlags, [event: OrderEventName]>({
  brief: synopses.trigger.brief,
  about: `Posts a published event, complete and signed with your keys: ${eventNames.join(', ')}. Exits with 1 if it is not answered with 2xx, and with --forge if it is.`,
  examples: [
    'partner-exchange trigger event.buy.credited.crypto --to http://127.0.0.1:3000/orders',
    'partner-exchange trigger event.buy.init --to http://127.0.0.1:3000/orders --set partner_order_id=A-7 --set transactional_kyc.email=',
    'partner-exchange trigger event.buy.credited.crypto --to http://127.0.0.1:3000/orders --reverse --repeat 3',
    'partner-exchange trigger event.buy.init --to http://127.0.0.1:3000/orders --forge',
  ],
  parameters: {
    flags: {
      ...postFlags,
      set: {
        kind: 'parsed',
        parse: assignment,
        placeholder: 'member=value',
        brief: 'What differs: a.b=c, the value as JSON or as text',
        variadic: true,
        optional: true,
      },
      repeat: {
        kind: 'parsed',
        parse: wholeNumber(1, 10_000),
        placeholder: 'times',
        brief: 'Post the same bytes several times, as a service that repeats',
        default: '1',
      },
      reverse: {
        kind: 'boolean',
        brief: 'Post all events of the order until this one, the last one first',
        default: false,
        withNegated: false,
      },
      forge: {
        kind: 'boolean',
        brief: 'Sign it as one who knows no secret: your receiver must refuse it',
        default: false,
        withNegated: false,
      },
      unfamiliar: {
        kind: 'boolean',
        brief: 'Under a name and with a member that are not published, but authentic',
        default: false,
        withNegated: false,
      },
      merchant: merchantFlag,
      ...signingFlags,
      ...formatFlags,
      ...commonFlags,
    },
    positional: {
      kind: 'tuple',
      parameters: [
        {
          brief: 'Name of the event',
          placeholder: 'event',
          parse: oneOf(eventNames),
          proposeCompletions: () => eventNames,
        },
      ],
    },
  },
  load: async () => (await import('../commands/trigger.ts')).trigger,
});
