/** A point that the contract leaves open or contradicts itself on, and our answer. */
export interface Assumption {
  /** Its name in errors and documents, such as `signature-key`. */
  readonly id: AssumptionId;
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

const ledger = {
  'signature-construction': assumed(
    'Signatures are HMAC-SHA512 with the secret as the HMAC key.',
    'signature.construction in defineDeployment',
  ),
  'signature-serialization': reported(
    "The signed text is the posted body's own text without its top-level signature member.",
    'signature.serialization in defineDeployment',
  ),
  'signature-encoding': reported(
    'Signatures are written as 128 lower-case hexadecimal digits.',
    'signature.encoding in defineDeployment',
  ),
  'signature-key': published(
    'Order creation and order events are signed with merchant + partner secret, everything else with the partner secret; the variant with the public key (Authentication 7) is not used.',
    'signature.orderKey in defineDeployment',
  ),
  'merchant-concatenation': reported(
    'Nothing stands between the merchant and the partner secret.',
    'signature.keySeparator in defineDeployment',
  ),
  'merchant-key-prefix': reported(
    'A merchant secret may lack the sk_merchant_ prefix, but has no prefix of another key.',
    'none needed',
  ),
  'several-merchants': reported(
    'One partner can hold several merchant secrets, one for each currency.',
    'merchantSecretKeys in the credentials',
  ),
  'key-lifetime': assumed(
    'Keys have no expiry of their own: they are valid until they are regenerated.',
    'a key ring with createKeyRotation, or a list of credentials in createWebhooks',
  ),
  'old-keys-die': assumed(
    'The old keys stop working when new ones are asked for, or when the link to them is opened: a call that is refused with 401 or 403 is repeated once with the pending keys.',
    'static credentials instead of a key ring: nothing is repeated then',
  ),
  'regeneration-path': published(
    'Keys are regenerated at OnboardPartner./, with the dot, as published.',
    'paths.regenerateKeys in defineDeployment',
  ),
  'order-path': reported(
    'Orders are created by POST at /api/v1/no-auth/PartnerP2P/CreateOrder/.',
    'paths.createOrder in defineDeployment',
  ),
  'order-payload': reported(
    'A buy order has the members of the reported payload, with amounts as decimal strings.',
    'orderSchema in defineDeployment',
  ),
  'order-partner-id': reported(
    'Order creation carries the header x-partner-id when the partner ID is known.',
    'leave partnerId out of the credentials',
  ),
  'partner-order-id': assumed(
    'A second order with the same partner_order_id is a second order.',
    'duplicateIds in createOrderJournal',
  ),
  'address-form': assumed(
    'Addresses on chains of the network trc20 have the form of TRON, of matic that of EVM chains, of mob that of MobileCoin; on any other network they have any form. 64 hexadecimal digits are a private key.',
    'addressForms in defineDeployment, or acceptAddress of one order',
  ),
  'event-matches-order': assumed(
    'An event has the address of its order, chain and currency maybe in another spelling, and an amount that may hold fees; the close event has any chain.',
    'sameOrder in defineDeployment, or rejectMismatch in createOrderJournal',
  ),
  'branded-names': published(
    'platform_order_ref, platform_merchant_id, messenger_device_no and connect-msg are the names on the wire.',
    'wireNames in defineDeployment',
  ),
  'allowed-values': assumed(
    'Pairs, chains and currencies are any text: the full sets are not shown.',
    'orderSchema in defineDeployment',
  ),
  replies: assumed(
    'Replies have no known shape: any 2xx is a success (but see order-reply and message-reply), its body parsed as JSON where it is JSON.',
    'the schema option of each call',
  ),
  'order-reply': assumed(
    "A 2xx reply to an order accepts it if its body is a JSON object in which no member denies it (success, ok, status, error, code, responseCode and their like) or names another partner_order_id, and at least one is the service's own; after any other nobody knows.",
    'readOrderReply in defineDeployment',
  ),
  'message-reply': assumed(
    'A 2xx reply to a message, also an empty one, means that it was sent, unless its JSON denies that as for order-reply; text leaves it unknown.',
    'readMessageReply in defineDeployment',
  ),
  'order-conflict': assumed(
    'Status 409 or 423 to an order may mean that the service has it: nobody knows until an event comes.',
    'orderStatuses in defineDeployment, or duplicateIds in createOrderJournal',
  ),
  'order-rate-limit': assumed(
    'Status 429 to an order means that the service did not act on it: a journal sends it again after Retry-After.',
    'orderStatuses in defineDeployment',
  ),
  errors: assumed(
    'Status 4xx, 307 and 308 mean the service refused to act; 408, 5xx and other redirects leave it unknown, and for an order also 409 and 423.',
    'read status, headers and body of the RequestError',
  ),
  'otp-refusal': assumed(
    'Refusing a message with status 400, 410 or 422, or with 404 or 2xx and JSON that names the number, is about the phone number; with any other, about the device or the address.',
    'isNumberRefusal in createOtp',
  ),
  'ip-whitelist': assumed(
    'A call from an address that is not whitelisted is answered with 401 or 403.',
    'read status and body of the RequestError',
  ),
  'request-limits': assumed(
    'There is no known rate limit: 429 and Retry-After are honoured where they occur.',
    'retry and timeoutMs of the clients',
  ),
  'number-check': assumed(
    'The number check has no published path; the phone number goes into the query as to_phone.',
    'paths.checkNumber in defineDeployment, and further members of checkNumber',
  ),
  'phone-form': assumed(
    'to_phone is 5 to 20 digits, with or without a leading "+".',
    'none needed: normalizePhone of partner-exchange-sdk/otp writes numbers so',
  ),
  'verify-check': assumed(
    'verify_check is passed on as given and left out when absent; its meaning is not shown.',
    'verify_check of sendMessage',
  ),
  'api-key-form': reported(
    'A messenger API key is any text without blanks (reported to look like API-X-xxx).',
    'none needed',
  ),
  'terminal-crypto-status': published(
    'A credited order carries crypto_payment_status PAID, Completed or COMPLETED.',
    'eventStatuses in defineDeployment',
  ),
  'event-statuses': published(
    'The other statuses of event.buy.init, event.buy.received.fiat and event.buy.credited.crypto are those of the contract: with another one no handler gets the event.',
    'eventStatuses in defineDeployment',
  ),
  'third-party-spelling': published(
    'The third-party KYC error is spelled THIRD_PARTY_ERROR or THIRD_PARTY_PAYMENT; any other kind than these and NO_KYC is delivered as it is.',
    'none needed: the text is passed on as it is',
  ),
  'third-party-error-body': assumed(
    'event.buy.third_party_error may have any of the common members, or none.',
    'parse the body with a schema of your own',
  ),
  'amount-units': assumed(
    'amount_refunded and fee are in units of fiat_currency, and exchange_rate counts fiat units for one unit of crypto.',
    'none needed: the values are passed on as they are',
  ),
  'timestamp-form': assumed(
    'The ISO 8601 timestamp created_at has the form of RFC 3339, with a date, a time and an offset.',
    'none needed: the text is passed on as it is',
  ),
  'close-status': published(
    'The close event always reports a refund: meta_data.status is refunded; any other is delivered as it is.',
    'none needed: the text is passed on as it is',
  ),
  'event-shape': published(
    'An event has the members of its type; one that cannot be read is never acknowledged as handled: it is a dead letter of the inbox, or answered with 500.',
    'onUnrecognized in createWebhooks receives any other',
  ),
  'event-readings': assumed(
    'Where no guess is needed, an event is read in other forms too: absent or null KYC texts are empty, absent nullable members are null, decimal text is a number, a number is text for amounts and rates alone (with its own digits), and statuses in another case and names with blanks for dots are the documented ones. Each reading stands in readings.',
    'refuse an event in onAny if readings of its context are not empty',
  ),
  'other-events': reported(
    'Further events exist (event.buy.error, sell orders) with bodies that are not shown.',
    'onUnrecognized in createWebhooks',
  ),
  'callback-reply': assumed(
    'The service takes 2xx for received and anything else for not received.',
    'use receive() and answer as your deployment needs',
  ),
  'event-content-type': assumed(
    'An event is JSON in UTF-8, whatever its headers say or lack.',
    'undo the encoding in a proxy, or use receive() with the decoded body',
  ),
  'callback-retry': assumed(
    'An event that is not acknowledged may never come again: acknowledge only what is safe.',
    'inbox in createWebhooks',
  ),
  'event-order': assumed(
    'Events may come late, twice (also with other members), or out of order.',
    'none needed',
  ),
  'order-transitions': assumed(
    'Any event may follow any other: no transitions between the states of an order are shown.',
    'none needed',
  ),
  versioning: published(
    'The segment v1 of the onboarding paths is the only version; the messenger has none.',
    'paths in defineDeployment',
  ),
  'event-replay': published(
    'Events carry no time stamp, so a captured one stays valid as long as its keys do.',
    'maxRemembered of memoryInbox; a durable inbox remembers longer',
  ),
};

/** The name of an assumption. @useDeclaredType */
export type AssumptionId = keyof typeof ledger;

/**
 * The assumption ledger: every guess has a name. Errors that a wrong guess can cause list its id in `assumptions`, and
 * a test checks the table in docs/assumptions.md against this list.
 */
export const assumptions: readonly Assumption[] = /* @__PURE__ */ Object.entries(ledger).map(
  // Sound: the keys of the ledger are the ids.
  ([id, row]) => ({ id: id as AssumptionId, ...row }),
);

// The rows of a bundle that does not use them are left out.

/* @__NO_SIDE_EFFECTS__ */
function published(statement: string, override: string): Omit<Assumption, 'id'> {
  return { statement, basis: 'published', override };
}

/* @__NO_SIDE_EFFECTS__ */
function reported(statement: string, override: string): Omit<Assumption, 'id'> {
  return { statement, basis: 'reported', override };
}

/* @__NO_SIDE_EFFECTS__ */
function assumed(statement: string, override: string): Omit<Assumption, 'id'> {
  return { statement, basis: 'assumed', override };
}
