/**
 * For each code what to do, as a function of words: those of the library or those of the command line. Its keys are the
 * codes of the error classes and of the webhooks' refusals, so a code without an entry does not compile. docs/errors.md
 * is written from it (`npm run docs:errors`).
 */

/** A text that names functions and options, in the words of whoever reads it. */
export type Text = string | ((say: Words) => string);

/** How advice names functions, options and commands. The command line has its own words (`config/command-words.ts`). */
export interface Words {
  /** Finds the scheme of captured bodies. */
  readonly detect: string;
  /** Finds the scheme with the help of an endpoint that signs. */
  readonly oracle: string;
  /** The text that such an endpoint has to sign. */
  readonly probe: string;
  /** Explains why a signature does not match. */
  readonly explain: string;
  /** Keeps a scheme, with bodies that prove it. */
  readonly pin: string;
  readonly whitelist: string;
  readonly scan: string;
  /** Asks for new keys once more. */
  readonly askAgain: string;
  readonly receiveKeys: string;
  readonly promoteKeys: string;
  readonly observe: string;
  readonly settle: string;
  /** Counts what a receiver did about an order, for an attack. */
  readonly handled: string;
  /** Sends a refused order once more. */
  readonly sendAgain: string;
  readonly merchant: string;
  /** Reads the keys of a key ring. */
  readonly reload: string;
  /** Finds out why the service refused a call whose message does not tell. */
  readonly readReply: string;
  /** Verifies with the key for orders. */
  readonly keyForOrders: string;
  readonly delimiter: string;
  readonly columns: string;
  readonly allowInsecureHttp: string;
  /** Options of `defineDeployment`, in a sentence. */
  settings(...names: readonly string[]): string;
}

export const libraryWords: Words = {
  detect: 'detectScheme',
  oracle: 'detectFromOracle of partner-exchange-sdk/diagnostics',
  probe: 'the text of probeBody()',
  explain: 'explainMismatch of partner-exchange-sdk/diagnostics',
  pin: 'pinScheme',
  whitelist: 'call whitelistIp() from it',
  scan: 'open scanDeviceUrl() and scan',
  askAgain: 'ask again with { again: true }',
  receiveKeys: 'give them to receive()',
  promoteKeys: 'call promote()',
  observe: 'wait for an event of it (observe)',
  settle: 'call settle',
  handled: '`handled`',
  sendAgain: 'again: true',
  merchant: 'the merchant option',
  reload: 'await reload() of the ring in this process',
  readReply: 'Look for the reason in `body`, the reply',
  keyForOrders: 'signingKey(credentials, "order")',
  delimiter: 'Set the delimiter to',
  columns: 'Name the column that you mean.',
  allowInsecureHttp: 'allowInsecureHttp: true',
  settings: (...names) => `${names.join(' and ')} of defineDeployment`,
};

/** A text in the given words. */
export function inWords(text: Text, say: Words): string {
  return typeof text === 'string' ? text : text(say);
}

/** The text in whose place `change` puts another one, in whichever words it is said. */
export function mapText(text: Text, change: (text: string) => string): Text {
  return typeof text === 'string' ? change(text) : (say) => change(text(say));
}

/** What to do about each code: one sentence. Empty where each message itself says what must be (`pageRemedies`). */
export type Remedies = Readonly<Record<string, Text>>;

// A table for each class, since a bundler leaves out whole constants only.

export const bulkRemedies = {
  too_many_failures:
    'Correct what the cause says, and run the campaign again: no number gets a second message.',
  no_device_left: (say) => `Pair a device (${say.scan}), and run the campaign again.`,
  csv_unreadable: 'Correct the file, or the options that say how to read it.',
} as const satisfies Remedies;

export const configurationRemedies = {
  invalid_deployment: '',
  invalid_credentials: '',
  invalid_option: '',
  invalid_scheme: (say) => `Take the scheme that ${say.detect} found, unchanged.`,
  invalid_environment: '',
  not_configured: 'Set it: the operator of the service knows its value.',
  duplicate_handler: 'Register one handler, and call both functions from it.',
  raw_body_required: 'Pass the text or bytes as received, before anything parses them.',
  browser_environment: 'Call the service from your server: every visitor of a page can read its keys.',
  runtime_too_old: 'Install Node 22.12 or later.',
} as const satisfies Remedies;

export const inboxRemedies = {
  store_unavailable: 'Look at the store: the service sends the delivery again when it is answered 503.',
  store_full: 'Free some space: the service sends the delivery again when it is answered 503.',
  inbox_stopped: 'End the server before its inbox, with closeServer; or create a new inbox.',
  handler_timeout: 'Make the handler faster, or raise timeLimitMs: the delivery is handled again.',
  lease_lost: 'Find out why the process ended: a handler must tolerate a second run for one delivery.',
  invalid_message: 'Give the inbox its own queue, which only it writes to, and pass messages on unchanged.',
  event_unrecognized:
    'Have the dead letter replayed by a version that reads it, or take such events with onUnrecognized.',
} as const satisfies Remedies;

export const keyRemedies = {
  keys_unavailable: (say) => `Load the keys first: ${say.reload}.`,
  keys_not_loaded: 'See the cause: the ring goes on with the keys it has, and tries again.',
  keys_cooling_down: (say) => `If the keys have changed, ${say.reload}.`,
  keys_known: (say) => `Open the link in the e-mail for the new keys, and ${say.receiveKeys}.`,
  keys_of_another_partner:
    'Keep the keys of each partner in a storage of their own; if the stored name is the wrong one, begin with an empty storage.',
  keys_not_received: (say) => `Open the link in the e-mail for the new keys, and ${say.receiveKeys}.`,
  keys_unconfirmed: (say) =>
    `Compare them with those of the link, and if they differ, ${say.receiveKeys} once more.`,
  rotation_pending: (say) =>
    `Open the link in the e-mail for the new keys, and ${say.receiveKeys}, or ${say.askAgain} if no e-mail came.`,
  rotation_unknown: (say) =>
    `Look for its e-mail with the new keys and ${say.receiveKeys}, or ${say.askAgain} if none came.`,
  key_storage_exposed:
    'Give the file to the user that runs the program, with mode 0600, and consider its keys known.',
  key_storage_invalid: 'Restore the state from a copy, or name another place: nothing was changed.',
  key_storage_locked: 'Try again, and if no other process uses the file, delete the lock beside it.',
  key_storage_failed: 'Check the path, its owner and its mode.',
} as const satisfies Remedies;

export const orderRemedies = {
  different_order: 'Nothing was sent: give a new order an id of its own.',
  in_progress: 'Nothing was sent now: wait for the result, or until the order becomes unknown.',
  outcome_unknown: (say) => `It is not sent again: ${say.observe}, or look at the service and ${say.settle}.`,
  order_refused: (say) => `Nothing was sent: change it, or send it as it is with ${say.sendAgain}.`,
  order_abandoned: 'Nothing was sent: give a new order an id of its own.',
  order_not_found: 'Check the id, and that this is the journal that it was created with.',
  already_settled: 'Nothing was changed: a settled order stays as it is.',
} as const satisfies Remedies;

export const otpRemedies = {
  cool_down: 'Tell the user how long to wait (retryAfterMs).',
  limit_reached: 'Wait for retryAfterMs; `limit` names the limit.',
  not_allowed:
    'Allow the prefix in allowedPrefixes; if the code can no longer be sent again, issue a new one.',
  not_sent: 'Nothing was counted: it is safe to try again when the cause is removed.',
  refused: 'Ask the user for another phone number.',
  store_unavailable: 'Nothing was sent or accepted: try again when the store works.',
} as const satisfies Remedies;

export const requestRemedies = {
  connection_failed: 'Check the base URL, the network and the certificate.',
  network_error:
    'If `outcome` is unknown, find out whether the service acted before you repeat it; otherwise repeat it.',
  timeout:
    'If `outcome` is unknown, find out whether the service acted before you repeat it; otherwise repeat it.',
  aborted: 'If `outcome` is unknown, find out whether the service acted before you repeat it.',
  redirected: 'Set the base URL to the address that the service redirects to.',
  http_error: (say) => `${say.readReply}.`,
  reply_too_large: 'Raise maxReplyBytes if the service sends such replies.',
  reply_nonconforming: 'Correct the schema: `issues` says where the reply differs.',
  reply_not_accepted: (say) =>
    `If the service accepts orders with such replies, set ${say.settings('readOrderReply')}.`,
} as const satisfies Remedies;

/** Requests that the webhooks refuse before they verify a body. */
export const requestRefusalRemedies = {
  method_not_allowed: 'Give health checks an address of their own.',
  unsupported_media_type: 'Have a proxy undo the content-encoding.',
  body_too_large: 'Raise maxBodyBytes if the service sends such bodies.',
  body_timeout: 'Look for delays in the proxies in front of it, or raise bodyTimeoutMs.',
  body_unreadable: 'Look at the time limits of the caller and of the proxies in front of it.',
  raw_body_required: 'Give the request to the webhooks before a body parser reads it.',
} as const satisfies Remedies;

export const signatureRemedies = {
  body_not_utf8: 'Pass the bytes as received.',
  body_not_json: 'Pass the body as received: complete, decompressed and unchanged.',
  body_not_object: 'Pass the body as received: an event is a JSON object.',
  body_too_deep: 'Refuse it: no event is nested so deeply.',
  body_ambiguous: 'Refuse it, or use a scheme that signs the text (as-sent).',
  signature_missing: 'Pass a signed body: an event has a top-level `signature` member.',
  signature_duplicated: 'Refuse it: no serializer writes two signatures.',
  signature_malformed: (say) => `If the service sent it, find the encoding with ${say.detect}.`,
  signature_mismatch: (say) => `If the service sent it, find out why with ${say.explain}.`,
} as const satisfies Remedies;

export const storeRemedies = {
  store_failed: 'See the cause, and run the change again: it reads what was written.',
  store_conflict: 'Nothing was written: run the change again.',
  store_lost: 'Nothing was written: restore the records of Redis, or start the process again without them.',
  store_closed: 'Create a new store, or close it after everything that uses it.',
} as const satisfies Remedies;

export const validationRemedies = {
  invalid_input: '',
} as const satisfies Remedies;

/** All tables by class. Only for types, docs and tests: it would keep every table in every bundle. */
export const remedies = {
  BulkError: bulkRemedies,
  ConfigurationError: configurationRemedies,
  InboxError: inboxRemedies,
  KeyError: keyRemedies,
  OrderError: orderRemedies,
  OtpError: otpRemedies,
  RequestError: requestRemedies,
  RequestRefusal: requestRefusalRemedies,
  SignatureError: signatureRemedies,
  StoreError: storeRemedies,
  ValidationError: validationRemedies,
} as const satisfies Readonly<Record<string, Remedies>>;

/** The advice for codes whose messages say themselves what must be. Only for docs/errors.md: no entry holds it. */
export const pageRemedies: Readonly<Record<string, string>> = {
  invalid_deployment: 'Correct the option of the deployment that the message names.',
  invalid_credentials:
    'Compare the keys with those that the service issued: each in its own place, without blanks.',
  invalid_option: 'Correct the option that the message names.',
  invalid_environment: 'Correct the variable that the message names.',
  invalid_input: 'Correct the members that the message names; `issues` lists them.',
};

/** What the outcome of a failed request means for repeating it: a clause. */
export const outcomeClauses = {
  'not-sent': 'it did not reach the service: it is safe to repeat',
  refused: 'the service says that it did not act',
  unknown: 'the service may have acted: find out before you repeat it',
} as const;

/** A likely cause of a refusal: what to check, as a clause without its full stop, and its entries in the ledger. */
interface Cause {
  readonly advice: Text;
  readonly ids: readonly string[];
}

/** Why a service may refuse a call. */
export const causes = {
  whitelist: {
    advice: (say) => `this machine's IP address is not whitelisted: ${say.whitelist}`,
    ids: ['ip-whitelist'],
  },
  limits: { advice: 'the service wants fewer requests: wait before the next one', ids: ['request-limits'] },
  orderLimits: {
    advice: (say) =>
      `the service wants fewer requests: wait before the next one, and if it may take an order that it answers so, set ${say.settings('orderStatuses')}`,
    ids: ['request-limits', 'order-rate-limit'],
  },
  orderConflict: {
    advice: (say) =>
      `the service may have an order with this partner_order_id, or be busy with it; if it answers so without having it, set ${say.settings('orderStatuses')}`,
    ids: ['order-conflict', 'partner-order-id'],
  },
  deviceHasKey: {
    advice: 'this messenger_device_no has an API key already, which is shown only once: take another number',
    ids: [],
  },
  device: { advice: (say) => `the device of this API key is not connected: ${say.scan}`, ids: [] },
  recipient: { advice: 'to_phone is not on the messenger, or is misspelt', ids: ['otp-refusal'] },
  partnerId: { advice: 'partnerId of the credentials belongs to another key', ids: ['order-partner-id'] },
  values: { advice: 'the service does not take this chain or currency', ids: ['allowed-values'] },
  signature: {
    advice: (say) =>
      `the service signs in another way or with another key: have its signing endpoint sign a probe (${say.oracle}), or give a body that it signed, such as its first event, to ${say.detect}`,
    ids: [
      'signature-construction',
      'signature-serialization',
      'signature-encoding',
      'signature-key',
      'merchant-concatenation',
    ],
  },
  merchant: {
    advice: (say) => `the order needs another merchant secret: name it with ${say.merchant}`,
    ids: ['several-merchants'],
  },
  orderPayload: {
    advice: (say) => `the service wants other members: describe them with ${say.settings('orderSchema')}`,
    ids: ['order-payload'],
  },
  deviceName: {
    advice: (say) =>
      `the service has another name for messenger_device_no: set ${say.settings('wireNames.messenger_device_no')}`,
    ids: ['branded-names'],
  },
  queryNames: {
    advice: (say) => `the service has other names in the query: set ${say.settings('numberCheckParameters')}`,
    ids: ['number-check'],
  },
  verifyCheck: {
    advice: 'verify_check may be needed, or mean something else than you think',
    ids: ['verify-check'],
  },
  orderReply: {
    advice: (say) => `the service accepts orders with such replies: set ${say.settings('readOrderReply')}`,
    ids: ['order-reply'],
  },
} as const satisfies Readonly<Record<string, Cause>>;

/** The causes that depend on the call. */
export const causeOf = {
  payload: 'the service wants other members',
  key: (name: string) => `${name} is not one that the service knows by now`,
  path: (baseUrl: string, path: string) => (say: Words) =>
    `the service has it at another address: check ${say.settings(baseUrl, path)}`,
};

type Meanings = { readonly [Kind in keyof typeof remedies]: Record<keyof (typeof remedies)[Kind], string> };

/** What each code means. Only for docs/errors.md: no entry holds it. */
export const meanings: Meanings = {
  BulkError: {
    too_many_failures: 'Too many messages in a row failed, so the campaign was stopped.',
    no_device_left: 'The service refused the API key of every device (401 or 403).',
    csv_unreadable: 'A file has no header, lacks a column, or has a quote that is never closed.',
  },
  ConfigurationError: {
    invalid_deployment: 'An option of `defineDeployment` is missing or malformed.',
    invalid_credentials: 'A key is missing, blank, padded, or in the place of another key.',
    invalid_option: 'An option of a client, of the webhooks or of a function is unknown or malformed.',
    invalid_scheme: 'A signature scheme names something that does not exist.',
    invalid_environment: 'An environment variable is malformed or misspelt, or one is missing beside others.',
    not_configured: 'A setting has no default and was not given.',
    duplicate_handler: 'A webhook handler was registered twice.',
    raw_body_required: 'Something parsed the body before its signature could be checked.',
    browser_environment: 'Secret keys were about to be used in a browser.',
    runtime_too_old: 'This Node lacks functions that the package needs.',
  },
  InboxError: {
    store_unavailable: 'The store failed, or did not answer in time.',
    store_full: 'The store has no room (SQLite: the disk, or `max_page_count`).',
    inbox_stopped: '`stop` was called: this process accepts nothing more.',
    handler_timeout: 'A handler did not settle within `timeLimitMs`.',
    lease_lost: 'The last process that handled a delivery died, or lost the delivery to another one.',
    invalid_message: 'A message of the queue is no delivery that `queueInbox` sent.',
    event_unrecognized:
      'An authentic event has another name or another shape than the published ones, and `onUnrecognized` does not take it.',
  },
  KeyError: {
    keys_unavailable:
      'A key ring has no keys: none were loaded yet, or the storage of a rotation holds none.',
    keys_not_loaded: 'Loading the keys of a key ring failed.',
    keys_cooling_down: 'A key ring may hold old keys, and may not read them again yet.',
    keys_known: 'The keys that were received are the current ones, and new ones are awaited.',
    keys_of_another_partner:
      'The keys that were received have another partner ID (or, without one, another partner code) than those of the rotation.',
    keys_not_received:
      'Keys were asked for, but not received yet. A body that matches no key may be signed with them.',
    keys_unconfirmed:
      'Keys were received after others, and no delivery has matched them yet, for a day at most (`overlapMs`). A body that matches no key is taken for one under the right keys.',
    rotation_pending: 'A rotation is under way.',
    rotation_unknown:
      'It is not known whether keys were asked for: the process ended in between, or no reply came.',
    key_storage_exposed: 'Other users can read the file with the keys, or it belongs to one of them.',
    key_storage_invalid: 'The stored text is not the state of a rotation. It is left as it is.',
    key_storage_locked: 'Another process holds the file for too long.',
    key_storage_failed: 'Reading or writing the keys failed.',
  },
  OrderError: {
    different_order: 'The id stands for an order with another payload or merchant.',
    in_progress: 'Another call, maybe of another process, is sending the order, or that process has died.',
    outcome_unknown: 'The service may have the order. An event or a person settles it.',
    order_refused: 'The service refused the order before.',
    order_abandoned: 'A person decided that there is no such order.',
    order_not_found: 'The journal has no order with this id.',
    already_settled: 'The order is settled in another way than the one asked for.',
  },
  OtpError: {
    cool_down: 'The phone number got a code a moment ago.',
    limit_reached: 'A limit is used up.',
    not_allowed: 'The phone number has none of `allowedPrefixes`, or there is no code to send again.',
    not_sent: 'No message left. `cause` is the error of the last device that was tried.',
    refused: 'The service does not take this phone number. `cause` is its refusal.',
    store_unavailable: 'The store of the one-time codes failed.',
  },
  RequestError: {
    connection_failed:
      'No connection was made: it was refused, or the host, its name or its certificate was not accepted. Nothing was sent, so it is safe to repeat.',
    network_error: 'The connection broke before a whole reply was read.',
    timeout:
      'No reply came within `timeoutMs` or `totalTimeoutMs`; or too many other requests were under way, or too little time was left (`leftMs`), to send it at all.',
    aborted: "The caller's signal ended it.",
    redirected: 'The service answered with a redirect, which is never followed.',
    http_error: 'The service answered with status 4xx or 5xx.',
    reply_too_large: 'The reply is larger than `maxReplyBytes`.',
    reply_nonconforming: "The reply does not fit the caller's schema.",
    reply_not_accepted:
      'A 2xx reply to an order is not a JSON object, or denies the order, or `readOrderReply` says so.',
  },
  RequestRefusal: {
    method_not_allowed: 'The request was not a POST.',
    unsupported_media_type: 'The body is encoded (`content-encoding`), for example compressed.',
    body_too_large: 'The body is larger than `maxBodyBytes`.',
    body_timeout: 'The body did not arrive within `bodyTimeoutMs`.',
    body_unreadable: 'The caller broke off before its body was whole.',
    raw_body_required: 'The body was parsed before its signature could be checked.',
  },
  SignatureError: {
    body_not_utf8: 'The body is not UTF-8 text.',
    body_not_json: 'The body is not JSON.',
    body_not_object: 'The body is JSON, but not an object.',
    body_too_deep: 'The body is nested too deeply for a scheme that signs the parsed value.',
    body_ambiguous:
      'The body holds `-0` or a number out of range (`1e999`), and the scheme signs the parsed value: `0` and `null` would have the same signature.',
    signature_missing: 'The body has no top-level `signature` member.',
    signature_duplicated: 'The body has more than one top-level `signature` member.',
    signature_malformed: "The signature is not text, or not a SHA-512 digest in the scheme's encoding.",
    signature_mismatch:
      'The signature is well formed, but made with another key or scheme, or over another body. It may be a forgery.',
  },
  StoreError: {
    store_failed:
      'The engine failed or did not answer. If the connection broke while it committed, the change may have been written.',
    store_conflict: 'Other processes kept changing the same records.',
    store_lost:
      'Redis no longer holds the records that this process has used. Nothing is written until they are back or the process is started again.',
    store_closed: '`close` was called.',
  },
  ValidationError: {
    invalid_input: 'The input of a call does not fit. Nothing was signed or sent.',
  },
};
