import type { remedies } from './error-tables.ts';

type Tables = typeof remedies;
type Meanings = { readonly [Kind in keyof Tables]: Record<keyof Tables[Kind], string> };

/** What each code means. */
export const meanings: Meanings = {
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
    store_full: 'The store has no room: the disk of its file is full.',
    inbox_stopped: '`stop` was called: this process accepts nothing more.',
    handler_timeout: 'A handler did not settle within `timeLimitMs`.',
    lease_lost: 'The last process that handled a delivery died, or lost the delivery to another one.',
    not_committed:
      'A handler called `handledIn` and ended without an error, but its transaction was not committed: the attempt failed.',
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
    keys_replaced:
      'The service refused a request under two sets of keys, and newer ones have come meanwhile.',
    keys_unconfirmed:
      'Keys were received after others, and no delivery has matched them yet, for a day at most (`overlapMs`). A body that matches no key is taken for one under the right keys.',
    rotation_pending: 'A rotation is under way.',
    rotation_unknown:
      'It is not known whether keys were asked for: the process ended in between, or no reply came.',
    key_storage_invalid: 'The stored text is not the state of a rotation. It is left as it is.',
  },
  OnceError: {
    in_progress: 'Another call, maybe of another process, runs the effect, or that process has died.',
    unknown:
      'An effect was begun, and its result was never written: its process died, its `run` threw, or the store failed.',
    different_input: 'The key stands for an effect with another `fingerprint`.',
    already_settled: 'The effect has a result, so there is nothing to settle.',
  },
  OrderError: {
    different_order: 'The id stands for an order with another payload or merchant.',
    in_progress: 'Another call, maybe of another process, is sending the order, or that process has died.',
    outcome_unknown: 'The service may have the order. An event or a person settles it.',
    order_refused: 'The service refused the order before.',
    order_abandoned: 'A person decided that there is no such order.',
    order_not_found: 'The journal has no order with this id.',
    already_settled: 'The order is settled in another way than the one asked for.',
    undecided_events: 'Events differ from the order, and a decision names none of them (`events`).',
    event_not_found: 'A decision names a digest that no differing event of the order has.',
    order_mismatch:
      "An authentic event names an order of the journal, and another address than the order's, or another difference that `rejectMismatch` names. The order counts as accepted, since the service has it.",
    rate_limited:
      'The service answered the order with 429. It did not act, and the order waits until `retryAfterMs` is over.',
    waiting_for_keys:
      'The service refused the order with 401 or 403 while new keys are on their way. It did not act, and the order waits for them.',
  },
  OtpError: {
    cool_down: 'The phone number got a code a moment ago.',
    limit_reached: 'A limit is used up.',
    not_allowed: 'The phone number has none of `allowedPrefixes`, or there is no code to send again.',
    not_sent: 'No message left. `cause` is the error of the messenger.',
    refused: 'The service does not take this phone number. `cause` is its refusal.',
    store_unavailable: 'The store of the one-time codes failed.',
  },
  RequestError: {
    connection_failed:
      'No connection was made: it was refused, or the host, its name or its certificate was not accepted. Nothing was sent, so it is safe to repeat.',
    network_error: 'The connection broke before a whole reply was read.',
    timeout:
      'No reply came within `timeoutMs` or `totalTimeoutMs`; or too little time was left (`leftMs`) to send it at all.',
    aborted: "The caller's signal ended it.",
    redirected: 'The service answered with a redirect, which is never followed.',
    http_error: 'The service answered with status 4xx or 5xx.',
    reply_too_large: 'The reply is larger than 1 MiB.',
    reply_nonconforming: "The reply does not fit the caller's schema.",
    reply_not_accepted:
      'A 2xx reply to an order is not a JSON object, or denies the order, or `readOrderReply` says so; or one to a message is no JSON, or denies the message, or `readMessageReply` says so.',
  },
  RequestRefusal: {
    method_not_allowed: 'The request was not a POST.',
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
    disk_full: 'The disk of the file is full. Nothing was written.',
    store_conflict: 'Other processes kept changing the same records.',
    store_lost:
      'Redis no longer holds the records that this process has used. Nothing is written until they are back or the process is started again.',
    newer_format:
      'A newer version of this package wrote it, in a form that this one does not know. It was left as it is.',
    store_closed: '`close` was called.',
  },
  ValidationError: {
    invalid_input: 'The input of a call does not fit. Nothing was signed or sent.',
    address_refused:
      "The buyer's address cannot be one of the chain of the order: `issues` says why. Nothing was written or sent.",
  },
};

/** The codes with an empty text in the table. */
type Unadvised = {
  [Kind in keyof Tables]: {
    [Code in keyof Tables[Kind]]: Tables[Kind][Code] extends '' ? Code : never;
  }[keyof Tables[Kind]];
}[keyof Tables];

/** The advice for the codes of which each message says itself what must be. */
export const pageRemedies: Readonly<Record<Unadvised, string>> = {
  invalid_deployment: 'Correct the option of the deployment that the message names.',
  invalid_credentials:
    'Compare the keys with those that the service issued: each in its own place, without blanks.',
  invalid_option: 'Correct the option that the message names.',
  invalid_environment: 'Correct the variable that the message names.',
  invalid_input: 'Correct the members that the message names; `issues` lists them.',
};
