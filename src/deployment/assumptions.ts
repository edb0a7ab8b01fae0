/** A point that the contract leaves open or contradicts itself on, and our answer. */
export interface Assumption {
  /** Its name in errors and documents, such as `signature-key`. */
  readonly id: string;
  /** Our answer, as a sentence. */
  readonly statement: string;
  /**
   * `published`: the contract says so, although it contradicts itself or says less elsewhere. `reported`: public pages of
   * deployments of the same family say so, whose brands this package does not name: a better guess. `assumed`: our guess,
   * or our choice.
   */
  readonly basis: 'published' | 'reported' | 'assumed';
  /** How to change it. */
  readonly override: string;
}

/**
 * The assumption ledger: every guess has a name. Errors that a wrong guess can cause list its id in `assumptions`, and
 * a test checks the table in docs/assumptions.md against this list.
 */
export const assumptions = [
  {
    id: 'signature-construction',
    statement: 'Signatures are HMAC-SHA512 with the secret as the HMAC key.',
    basis: 'assumed',
    override: 'signature.construction in defineDeployment',
  },
  {
    id: 'signature-serialization',
    statement: "The signed text is the posted body's own text without its top-level signature member.",
    basis: 'reported',
    override: 'signature.serialization in defineDeployment',
  },
  {
    id: 'signature-encoding',
    statement: 'Signatures are written as 128 lower-case hexadecimal digits.',
    basis: 'reported',
    override: 'signature.encoding in defineDeployment',
  },
  {
    id: 'signature-key',
    statement:
      'Order creation and order events are signed with merchant + partner secret, everything else with the partner secret; the variant with the public key (Authentication 7) is not used.',
    basis: 'published',
    override: 'signature.orderKey in defineDeployment, or keys in createWebhooks',
  },
  {
    id: 'merchant-concatenation',
    statement: 'Nothing stands between the merchant and the partner secret.',
    basis: 'reported',
    override: 'signature.keySeparator in defineDeployment',
  },
  {
    id: 'merchant-key-prefix',
    statement: 'A merchant secret may lack the sk_merchant_ prefix, but has no prefix of another key.',
    basis: 'reported',
    override: 'none needed',
  },
  {
    id: 'several-merchants',
    statement: 'One partner can hold several merchant secrets, one for each currency.',
    basis: 'reported',
    override: 'merchantSecretKeys in the credentials',
  },
  {
    id: 'key-lifetime',
    statement: 'Keys have no expiry of their own: they are valid until they are regenerated.',
    basis: 'assumed',
    override: 'a key ring with createKeyRotation, or a list of credentials in createWebhooks',
  },
  {
    id: 'old-keys-die',
    statement:
      'The old keys stop working when new ones are asked for, or when the link to them is opened: a call that is refused with 401 or 403 is repeated once with the pending keys.',
    basis: 'assumed',
    override: 'static credentials instead of a key ring: nothing is repeated then',
  },
  {
    id: 'regeneration-path',
    statement: 'Keys are regenerated at OnboardPartner./, with the dot, as published.',
    basis: 'published',
    override: 'paths.regenerateKeys in defineDeployment',
  },
  {
    id: 'order-path',
    statement: 'Orders are created by POST at /api/v1/no-auth/PartnerP2P/CreateOrder/.',
    basis: 'reported',
    override: 'paths.createOrder in defineDeployment',
  },
  {
    id: 'order-payload',
    statement: 'A buy order has the members of the reported payload, with amounts as decimal strings.',
    basis: 'reported',
    override: 'orderSchema in defineDeployment',
  },
  {
    id: 'order-partner-id',
    statement: 'Order creation carries the header x-partner-id when the partner ID is known.',
    basis: 'reported',
    override: 'leave partnerId out of the credentials',
  },
  {
    id: 'partner-order-id',
    statement: 'A second order with the same partner_order_id is a second order.',
    basis: 'assumed',
    override: 'duplicateIds in createOrderJournal',
  },
  {
    id: 'address-form',
    statement:
      'Addresses on chains of the network trc20 have the form of TRON, of matic that of EVM chains, of mob that of MobileCoin; on any other network they have any form. 64 hexadecimal digits are a private key.',
    basis: 'assumed',
    override: 'addressForms in defineDeployment, or acceptAddress of one order',
  },
  {
    id: 'event-matches-order',
    statement:
      'An event has the address of its order, chain and currency maybe in another spelling, and an amount that may hold fees; the close event has any chain.',
    basis: 'assumed',
    override: 'sameOrder in defineDeployment, or rejectMismatch in createOrderJournal',
  },
  {
    id: 'branded-names',
    statement:
      'platform_order_ref, platform_merchant_id, messenger_device_no and connect-msg are the names on the wire.',
    basis: 'published',
    override: 'wireNames in defineDeployment',
  },
  {
    id: 'allowed-values',
    statement: 'Pairs, chains and currencies are any text: the full sets are not shown.',
    basis: 'assumed',
    override: 'orderSchema in defineDeployment',
  },
  {
    id: 'replies',
    statement:
      'Replies have no known shape: any 2xx is a success (but see order-reply and message-reply), its body parsed as JSON where it is JSON.',
    basis: 'assumed',
    override: 'the schema option of each call',
  },
  {
    id: 'order-reply',
    statement:
      "A 2xx reply to an order accepts it if its body is a JSON object in which no member denies it (success, ok, status, error, code, responseCode and their like) or names another partner_order_id, and at least one is the service's own; after any other nobody knows.",
    basis: 'assumed',
    override: 'readOrderReply in defineDeployment',
  },
  {
    id: 'message-reply',
    statement:
      'A 2xx reply to a message, also an empty one, means that it was sent, unless its JSON denies that as for order-reply; text leaves it unknown.',
    basis: 'assumed',
    override: 'readMessageReply in defineDeployment',
  },
  {
    id: 'order-conflict',
    statement:
      'Status 409 or 423 to an order may mean that the service has it: nobody knows until an event comes.',
    basis: 'assumed',
    override: 'orderStatuses in defineDeployment, or duplicateIds in createOrderJournal',
  },
  {
    id: 'order-rate-limit',
    statement:
      'Status 429 to an order means that the service did not act on it: a journal sends it again after Retry-After.',
    basis: 'assumed',
    override: 'orderStatuses in defineDeployment',
  },
  {
    id: 'errors',
    statement:
      'Status 4xx, 307 and 308 mean the service refused to act; 408, 5xx and other redirects leave it unknown, and for an order also 409 and 423.',
    basis: 'assumed',
    override: 'read status, headers and body of the RequestError',
  },
  {
    id: 'otp-refusal',
    statement:
      'Refusing a message with status 400, 410 or 422, or with 404 or 2xx and JSON that names the number, is about the phone number; with any other, about the device or the address.',
    basis: 'assumed',
    override: 'isNumberRefusal in createOtp',
  },
  {
    id: 'ip-whitelist',
    statement: 'A call from an address that is not whitelisted is answered with 401 or 403.',
    basis: 'assumed',
    override: 'read status and body of the RequestError',
  },
  {
    id: 'request-limits',
    statement: 'There is no known rate limit: 429 and Retry-After are honoured where they occur.',
    basis: 'assumed',
    override: 'retry and timeoutMs of the clients',
  },
  {
    id: 'number-check',
    statement: 'The number check has no published path; the phone number goes into the query as to_phone.',
    basis: 'assumed',
    override: 'paths.checkNumber and numberCheckParameters in defineDeployment',
  },
  {
    id: 'phone-form',
    statement: 'to_phone is 5 to 20 digits, with or without a leading "+".',
    basis: 'assumed',
    override: 'normalizePhone of MessengerClient',
  },
  {
    id: 'verify-check',
    statement: 'verify_check is passed on as given and left out when absent; its meaning is not shown.',
    basis: 'assumed',
    override: 'verify_check of sendMessage',
  },
  {
    id: 'api-key-form',
    statement: 'A messenger API key is any text without blanks (reported to look like API-X-xxx).',
    basis: 'reported',
    override: 'none needed',
  },
  {
    id: 'terminal-crypto-status',
    statement: 'A credited order carries crypto_payment_status PAID, Completed or COMPLETED.',
    basis: 'published',
    override: 'eventStatuses in defineDeployment',
  },
  {
    id: 'event-statuses',
    statement:
      'The other statuses of event.buy.init, event.buy.received.fiat and event.buy.credited.crypto are those of the contract: with another one no handler gets the event.',
    basis: 'published',
    override: 'eventStatuses in defineDeployment',
  },
  {
    id: 'third-party-spelling',
    statement:
      'The third-party KYC error is spelled THIRD_PARTY_ERROR or THIRD_PARTY_PAYMENT; any other kind than these and NO_KYC is delivered as it is.',
    basis: 'published',
    override: 'none needed: the text is passed on as it is',
  },
  {
    id: 'third-party-error-body',
    statement: 'event.buy.third_party_error may have any of the common members, or none.',
    basis: 'assumed',
    override: 'parse the body with a schema of your own',
  },
  {
    id: 'amount-units',
    statement:
      'amount_refunded and fee are in units of fiat_currency, and exchange_rate counts fiat units for one unit of crypto.',
    basis: 'assumed',
    override: 'none needed: the values are passed on as they are',
  },
  {
    id: 'timestamp-form',
    statement:
      'The ISO 8601 timestamp created_at has the form of RFC 3339, with a date, a time and an offset.',
    basis: 'assumed',
    override: 'none needed: the text is passed on as it is',
  },
  {
    id: 'close-status',
    statement:
      'The close event always reports a refund: meta_data.status is refunded; any other is delivered as it is.',
    basis: 'published',
    override: 'none needed: the text is passed on as it is',
  },
  {
    id: 'event-shape',
    statement:
      'An event has the members of its type; one that cannot be read is never acknowledged as handled: it is a dead letter of the inbox, or answered with 500.',
    basis: 'published',
    override: 'onUnrecognized in createWebhooks receives any other',
  },
  {
    id: 'event-readings',
    statement:
      'Where no guess is needed, an event is read in other forms too: absent or null KYC texts are empty, absent nullable members are null, decimal text is a number, a number is text for amounts and rates alone (with its own digits), and statuses in another case and names with blanks for dots are the documented ones. Each reading stands in readings.',
    basis: 'assumed',
    override: 'strict in createWebhooks and parseOrderEvent',
  },
  {
    id: 'other-events',
    statement: 'Further events exist (event.buy.error, sell orders) with bodies that are not shown.',
    basis: 'reported',
    override: 'onUnrecognized in createWebhooks',
  },
  {
    id: 'callback-reply',
    statement: 'The service takes 2xx for received and anything else for not received.',
    basis: 'assumed',
    override: 'use receive() and answer as your deployment needs',
  },
  {
    id: 'event-content-type',
    statement:
      'An event is JSON in UTF-8, whatever its headers say or lack; another body that they call encoded is refused with 415.',
    basis: 'assumed',
    override: 'undo the encoding in a proxy, or use receive() with the decoded body',
  },
  {
    id: 'callback-retry',
    statement: 'An event that is not acknowledged may never come again: acknowledge only what is safe.',
    basis: 'assumed',
    override: 'inbox in createWebhooks',
  },
  {
    id: 'event-order',
    statement: 'Events may come late, twice (also with other members), or out of order.',
    basis: 'assumed',
    override: 'none needed',
  },
  {
    id: 'order-transitions',
    statement: 'Any event may follow any other: no transitions between the states of an order are shown.',
    basis: 'assumed',
    override: 'none needed',
  },
  {
    id: 'versioning',
    statement: 'The segment v1 of the onboarding paths is the only version; the messenger has none.',
    basis: 'published',
    override: 'paths in defineDeployment',
  },
  {
    id: 'event-replay',
    statement: 'Events carry no time stamp, so a captured one stays valid as long as its keys do.',
    basis: 'published',
    override: 'maxRemembered in createWebhooks; a durable inbox remembers longer',
  },
] as const satisfies readonly Assumption[];

/** The name of an assumption. @useDeclaredType */
export type AssumptionId = (typeof assumptions)[number]['id'];
