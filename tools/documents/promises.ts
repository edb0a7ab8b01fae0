/** A test: its file below the repository, and its name or that of its group. */
type TestName = readonly [file: string, name: string];

/** The promises of each page, as its reader sees them, and the tests that show each. */
export type PromisedPages = Readonly<
  Record<string, Readonly<Record<string, readonly [TestName, ...TestName[]]>>>
>;

/**
 * Each sentence under "Guarantees", and each of the README and the tops of the guides that promises something.
 * `check:package` fails on one that is not here, and on a test that does not exist. Whoever writes a promise writes its
 * test, and names both here.
 */
export const promises: PromisedPages = {
  'docs/details/security.md': {
    'A handler sees only signed content.': [
      ['test/webhooks/unrecognized.integration.test.ts', 'does not receive what is not authentic'],
      ['test/signature/forgeries.test.ts', 'are all refused with a SignatureError'],
    ],
    'The signed text and the parsed value come from the same bytes.': [
      ['test/signature/verify-body.test.ts', 'comes with the text that was signed'],
      [
        'test/signature/parse-signed-body.test.ts',
        'at any indentation, wherever the signature stands, in every encoding',
      ],
    ],
    'A body with two signatures, not UTF-8, not JSON or ambiguous is refused.': [
      ['test/signature/verify-body.test.ts', 'two signatures are refused'],
      ['test/signature/verify-body.test.ts', 'a body that is not UTF-8 is refused'],
      ['test/signature/verify-body.test.ts', 'a body that is not JSON'],
      ['test/signature/ambiguous-numbers.test.ts', 'a signed null or 0 that somebody has exchanged'],
    ],
    '`verifyBody` returns the verified value or throws, so no boolean can be forgotten.': [
      ['test/signature/verify-body.test.ts', 'comes back whole, with the signature'],
      ['test/signature/forgeries.test.ts', 'are all refused with a SignatureError'],
    ],
    'Comparison takes constant time: `timingSafeEqual` over decoded digests of 64 bytes, and all keys are tried on every delivery.':
      [
        ['test/devtools/diagnostics/attack/our-receivers.proof.test.ts', 'with an inbox'],
        [
          'test/webhooks/number-of-keys.test.ts',
          'a delivery costs the same whichever of them matches, and when none does',
        ],
      ],
    'Nothing thrown, logged or reported holds a key of ours, a code, an expected signature or a request body, also where the service repeats them.':
      [
        ['test/client/secrets.integration.test.ts', 'no secret shows after %s'],
        ['test/client/echo.integration.test.ts', '%s: shows no key, no signature and no text of the request'],
        ['test/webhooks/secrecy.integration.test.ts', 'nothing secret is in the outcome'],
        ['test/webhooks/refusals.integration.test.ts', 'gets nothing of the request into the log'],
        [
          'test/otp/secrecy.test.ts',
          'no error, report, warning or printed object holds a code, a whole phone number, an id or a secret',
        ],
      ],
    'The reply in `body` of a `RequestError` is not printed; what remains in it: new keys, for one.': [
      ['test/client/reply.integration.test.ts', 'that does not fit keeps the body out of what is printed'],
      ['test/client/echo.integration.test.ts', 'keeps new keys, which are nowhere else'],
    ],
    '`console.log` and `JSON.stringify` do not show keys of `defineCredentials`.': [
      ['test/credentials/define-credentials.test.ts', 'no secret is shown by'],
    ],
    'A dead letter keeps the reason that your handler throws: keep personal data out of it.': [
      [
        'test/formats/inboxes.integration.test.ts',
        'lists the dead letters with their reasons, and handles them once they are replayed',
      ],
    ],
    'On request only, `onRefused` and `deadLetters({ withBody: true })` give you bodies.': [
      [
        'test/webhooks/refusals.integration.test.ts',
        'gets neither what is authentic nor what is refused unread',
      ],
      [
        'test/inbox/suite/dead-letters.ts',
        'a dead letter is read by its digest, with its body when asked; nothing else is',
      ],
    ],
    'Nothing authentic is dropped.': [
      [
        'test/webhooks/unrecognized.integration.test.ts',
        'an unknown event is answered 500 each time, with the reason, and one warning',
      ],
      [
        'test/inbox/suite/dead-letters.ts',
        'an event that cannot be read is a dead letter at the first attempt',
      ],
      [
        'test/devtools/diagnostics/attack/our-receivers.proof.test.ts',
        'without an inbox: it answers 500 to what it cannot read, and drops nothing',
      ],
    ],
    'With an inbox every authentic event is stored before it is acknowledged, and one that nobody can read becomes a dead letter.':
      [
        ['test/inbox/store-down.integration.test.ts', 'a store that is down'],
        [
          'test/inbox/suite/dead-letters.ts',
          'an event that cannot be read is a dead letter at the first attempt',
        ],
        ['test/inbox/contract.ts', 'keeps what a receiver has no handler for, which a worker handles'],
      ],
    'Without one, what cannot be read or handled is answered 500.': [
      [
        'test/webhooks/unrecognized.integration.test.ts',
        'is answered 500 without a handler, and no handler of another event changes that',
      ],
      ['test/webhooks/unrecognized.integration.test.ts', 'is not when it fails, and comes again'],
    ],
    "Two kinds are dropped because you say so: documented events that you register no handler for, and other names after `onUnrecognized('ignore')` (outcomes).":
      [
        [
          'test/inbox/suite/handling.ts',
          'a delivery is ignored once no process had a handler for it for long enough',
        ],
        [
          'test/webhooks/unrecognized.integration.test.ts',
          'acknowledges events of other names without a warning',
        ],
      ],
    'An event that kills its process is tried alone.': [
      ['test/inbox/worker.test.ts', 'waits for all that runs, and then runs with nothing beside it'],
    ],
    'Nothing is done twice because an answer was lost.': [
      [
        'test/orders/create.integration.test.ts',
        'resolves with what a lost reply says, and never sends the order again',
      ],
      [
        'test/client/outcome.integration.test.ts',
        'is sent once when the connection breaks before the reply, and may have been acted on',
      ],
    ],
    'A call is repeated only if it provably did not reach the service, or does no harm twice (the table).': [
      [
        'test/client/outcome.integration.test.ts',
        'is tried again when the connection is refused, and was not sent',
      ],
      ['test/client/timeout.integration.test.ts', 'is asked again where that does no harm'],
    ],
    "The platform's `fetch` cannot repeat a POST by itself (sent once).": [
      ['test/client/sent-once.integration.test.ts', 'is sent once when the answer is 421'],
      [
        'test/client/sent-once.integration.test.ts',
        'an order whose idle connection is closed as it leaves is sent once at most',
      ],
    ],
    'Work is bounded.': [
      ['test/webhooks/http/body-limit.integration.test.ts', 'fetch stops reading at the limit'],
      [
        'test/inbox/store-down.integration.test.ts',
        'is not asked by more than so many at a time: the others are answered at once',
      ],
    ],
    'Bodies, replies and waiting times have limits, each with an option; memory and quoted text have limits, too.':
      [
        ['test/webhooks/http/body-limit.integration.test.ts', 'can be set, to the byte'],
        ['test/client/reply.integration.test.ts', 'a reply larger than maxReplyBytes'],
        ['test/client/timeout.integration.test.ts', 'totalTimeoutMs'],
        [
          'test/webhooks/http/body-deadline.integration.test.ts',
          'answers 408 for one that comes drop by drop: the limit is for the whole of it',
        ],
        ['test/internal/read-bounded.test.ts', 'gives nothing when there is one byte more, and is cancelled'],
      ],
    'A forged delivery costs as many HMACs as there are keys to try: with many partners give a function.': [
      [
        'test/webhooks/number-of-keys.test.ts',
        'a delivery costs the same whichever of them matches, and when none does',
      ],
    ],
  },
  'README.md': {
    'The service is under-documented: every guess the SDK makes has a name, a default and an override, and a wrong guess fails with a message that names it.':
      [
        ['test/deployment/assumptions.test.ts', 'the assumption ledger'],
        ['test/errors/remedies.test.ts', 'cites only assumptions of the ledger'],
        ['test/signature/verify-body.test.ts', 'cites the assumptions that a mismatch can stem from'],
      ],
    'The package brings `ky` and `zod` and nothing else.': [
      ['test/package/third-party.integration.test.ts', 'accepts what is bundled and the two dependencies'],
    ],
    'The sandbox prints the address of its inspector, a page that shows every request and event:': [
      [
        'test/devtools/inspector/page.integration.test.ts',
        'shows what happens while it is open, without an error or a request to elsewhere',
      ],
    ],
    'The order journal never sends an order twice, and lets events settle what a lost reply left open.': [
      [
        'test/orders/model.proof.test.ts',
        'the journal does what its table says, and never makes a second order',
      ],
      ['test/orders/observe.integration.test.ts', 'settles an order whose reply was lost'],
    ],
    'Webhook handler: the receiver of the quick start is complete: a forged event never reaches a handler, and an authentic one that it cannot read is answered 500, never 200.':
      [
        ['test/webhooks/unrecognized.integration.test.ts', 'does not receive what is not authentic'],
        [
          'test/webhooks/unrecognized.integration.test.ts',
          'an unknown event is answered 500 each time, with the reason, and one warning',
        ],
      ],
    '`createWebhooks` also answers the service, drops repetitions, and with an inbox keeps each event until it is handled.':
      [
        ['test/inbox/contract.ts', 'keeps what a receiver has no handler for, which a worker handles'],
        [
          'test/inbox/suite/dead-letters.ts',
          'an event that cannot be read is a dead letter at the first attempt',
        ],
      ],
  },
  'docs/guides/find-the-scheme.md': {
    'In CI `learn events --check deployment.json` exits with 1 once the service signs in another way.': [
      ['test/devtools/cli/learn.proof.test.ts', 'learn --check'],
    ],
  },
  'docs/guides/where-to-pay.md': {
    "The account is the service's, and part of the signed body: an event that is not authentic never reaches the handler.":
      [['test/webhooks/unrecognized.integration.test.ts', 'does not receive what is not authentic']],
  },
  'docs/guides/inboxes.md': {
    'For the developer of a receiver whose events must survive a crash.': [
      ['test/inbox/suite/receiving.ts', 'a restart loses nothing, and remembers'],
    ],
    'The guarantee is the same in every row but the last: an event that was answered with 200 is handled at least once, or is a dead letter for a person.':
      [
        ['test/inbox/suite/receiving.ts', 'a restart loses nothing, and remembers'],
        [
          'test/inbox/suite/dead-letters.ts',
          'an event that cannot be read is a dead letter at the first attempt',
        ],
      ],
  },
  'docs/guides/reconcile.md': {
    'An event that never comes, a payment that is given for two orders, or an order that only the service has, shows when the books are compared.':
      [
        [
          'test/orders/reconcile.integration.test.ts',
          'finds every fault that the sandbox plants, in its order, and no other',
        ],
        ['test/orders/reconcile.integration.test.ts', 'compares with a statement of the service'],
      ],
    'It needs no keys, sends nothing, and changes nothing: a person settles an order.': [
      [
        'test/orders/reconcile.integration.test.ts',
        'finds an order that is not settled, and changes nothing',
      ],
      [
        'test/devtools/cli/order.integration.test.ts',
        'list and show what an event says otherwise, and what to do',
      ],
    ],
  },
  'docs/guides/create-orders.md': {
    'For the partner developer: send each order once, and learn its outcome, even if the reply is lost.': [
      [
        'test/package/guides.check.test.ts',
        'create-orders sends an order once whose reply is lost, and settles it with its event',
      ],
    ],
    'It never sends an order again while its outcome is unknown.': [
      [
        'test/orders/create.integration.test.ts',
        'resolves with what a lost reply says, and never sends the order again',
      ],
    ],
    'Signed events settle what a lost reply left open.': [
      ['test/orders/observe.integration.test.ts', 'settles an order whose reply was lost'],
    ],
  },
  'docs/guides/going-live.md': {
    'Every command works against the sandbox, too: rehearse there.': [
      ['test/devtools/cli/going-live.check.test.ts', 'every command of going-live works against the sandbox'],
    ],
  },
  'docs/guides/invalid-input.md': {
    'Every call checks its input before anything is stored or sent, and throws a `ValidationError`: a number where text is needed (`fiat_amount: 15000.5`), a missing member, a phone number without its country.':
      [
        ['test/client/check-input.integration.test.ts', 'by the client, before anything is sent'],
        [
          'test/package/guides.check.test.ts',
          'invalid-input answers 400 with the member that is wrong, and 422 for a phone number, never 500',
        ],
      ],
  },
  'docs/guides/receive-events.md': {
    'This program verifies each event, stores it before it answers, and acts on it once:': [
      [
        'test/package/guides.check.test.ts',
        'receive-events acts once on an event that is repeated, not on a forgery, and ends on SIGTERM',
      ],
    ],
    'It prints `credited PO-2025-000123` once:': [
      [
        'test/package/guides.check.test.ts',
        'receive-events acts once on an event that is repeated, not on a forgery, and ends on SIGTERM',
      ],
    ],
  },
  'docs/guides/send-to-many.md': {
    'Run it again: nothing is sent, and each number is `sent` again.': [
      [
        'test/package/guides.check.test.ts',
        'one-time-codes pairs a device; with its key a code is right once, and a text goes to each number once',
      ],
    ],
    'For the integration script: send one text to many numbers, so that you can stop a run, repeat it, and no number gets two.':
      [['test/crash/crash.proof.test.ts', 'send no number the text twice, and report what the service saw']],
  },
  'docs/guides/test-your-integration.md': {
    "Overrides are typed by the event's name and merged at every depth.": [
      ['test/devtools/testing/event-body.test.ts', 'are merged at every depth'],
      ['test/devtools/testing/event-body.test.ts', 'are narrowed by the name'],
    ],
  },
  'docs/guides/keys.md': {
    'For the partner developer: replace the keys without a restart, a lost event or a lost order.': [
      [
        'test/keys/under-load.proof.test.ts',
        'ten rotations under load, for two replicas and a service that posts each event once',
      ],
    ],
    'If the service repeats events that are answered with 503, none is lost.': [
      [
        'test/keys/sandbox.test.ts',
        'lose no order and no event, whatever happens between the steps of a rotation',
      ],
    ],
  },
};

/** Sentences with such a word that promise nothing of this package. */
export const notPromised: Readonly<Record<string, readonly string[]>> = {
  'README.md': [
    'Once: onboard, open the e-mailed link to the keys, and whitelist each machine that will call (`npx partner-exchange-sdk onboard`, `whitelist-ip`).',
    'Does every event fail with 401?',
    'Once for each device: generate its key and pair it.',
  ],
  'docs/guides/create-orders.md': ['Try it with a lost reply.'],
  'docs/guides/receive-events.md': ['Start it with test keys, and post the same event to it twice.'],
};
