/**
 * What to do about each code, in the words of the library; the command line adds its command. The keys are the codes of the
 * error classes and of the webhooks' refusals, so a code without an entry does not compile. docs/errors.md
 * is written from it (`npm run docs:errors`), with `tools/documents/error-meanings.ts`.
 */

/** What to do about each code: one sentence. Empty where each message itself says what must be. */
export type Remedies = Readonly<Record<string, string>>;

// A table for each class, since a bundler leaves out whole constants only.

export const configurationRemedies = {
  invalid_deployment: '',
  invalid_credentials: '',
  invalid_option: '',
  invalid_scheme: 'Take the scheme that learn found, unchanged.',
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
  not_committed: 'See why the transaction was rolled back, or commit it: the delivery is handled again.',
  invalid_message: 'Give the inbox its own queue, which only it writes to, and pass messages on unchanged.',
  event_unrecognized:
    'Have the dead letter replayed by a version that reads it, or take such events with onUnrecognized.',
} as const satisfies Remedies;

export const keyRemedies = {
  keys_unavailable: 'Load the keys first: await reload() of the ring in this process.',
  keys_not_loaded: 'See the cause: the ring goes on with the keys it has, and tries again.',
  keys_cooling_down: 'If the keys have changed, await reload() of the ring in this process.',
  keys_known: 'Open the link in the e-mail for the new keys, and give them to receive().',
  keys_of_another_partner:
    'Keep the keys of each partner in a storage of their own, or begin with an empty one.',
  keys_not_received: 'Open the link in the e-mail for the new keys, and give them to receive().',
  keys_replaced: 'Send it again: it is signed with the newest keys then.',
  keys_unconfirmed:
    'Compare them with those of the link, and if they differ, give them to receive() once more.',
  rotation_pending: 'Open the link in the e-mail and give them to receive(); or ask again (option `again`).',
  rotation_unknown:
    'Look for its e-mail and give them to receive(); if none came, ask again (option `again`).',
  key_storage_invalid:
    'Give decrypt if it is encrypted, restore a copy, or name another place for your keys and give them to receive().',
} as const satisfies Remedies;

export const onceRemedies = {
  in_progress: 'Try again after retryAfterMs.',
  unknown: 'It is not repeated: find out whether it happened, and settle it with settleOnce.',
  different_input: 'Nothing was done: compare the two inputs, and give a new effect a key of its own.',
  already_settled: 'Nothing was changed: repetitions get the result that is there.',
} as const satisfies Remedies;

export const orderRemedies = {
  different_order:
    'Nothing was sent: send the order that you stored, or give a new one an id of its own (or see `replace`).',
  in_progress: 'Nothing was sent now: wait for the result, or until the order becomes unknown.',
  outcome_unknown: 'It is not sent again: wait for an event of it, or look at the service and settle it.',
  order_refused: 'Change it, or send it as it is with the option `again`.',
  order_abandoned: 'Nothing was sent: give a new order an id of its own.',
  order_not_found: 'Check the id, and that this is the journal that it was created with.',
  already_settled: 'Nothing was changed: a settled order stays as it is.',
  order_mismatch: 'No handler has acted on it: settle the event by its digest, and replay it if it is right.',
  undecided_events:
    'Nothing was changed: look at each event, and name the digests of those that you have seen.',
  event_not_found: 'Nothing was changed: `events` of the order has the digests.',
  rate_limited: 'Send it again after retryAfterMs: `start` of the journal does it by itself.',
  waiting_for_keys: 'Receive the new keys, and send it again: `start` of the journal does it by itself.',
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
  http_error: 'Look for the reason in the reply, or ask the operator of the service.',
  reply_too_large: 'Look at what answers at the base URL: no reply of the service is so large.',
  reply_nonconforming: 'Correct the schema: `issues` says where the reply differs.',
  reply_not_accepted:
    'If it accepts with such replies, set readOrderReply of defineDeployment, or readMessageReply for messages.',
} as const satisfies Remedies;

/** Requests that the webhooks refuse before they verify a body. */
export const requestRefusalRemedies = {
  method_not_allowed: 'Give health checks an address of their own.',
  body_too_large: 'Raise maxBodyBytes if the service sends such bodies.',
  body_timeout: 'Look for delays in the proxies in front of it, or raise bodyTimeoutMs.',
  body_unreadable: 'Look at the time limits of the caller and of the proxies in front of it.',
  raw_body_required:
    'Mount the webhooks before every body parser (docs/details/webhooks.md#the-body-was-parsed-first).',
} as const satisfies Remedies;

export const signatureRemedies = {
  body_not_utf8: 'Pass the bytes as received, and have a proxy undo a content-encoding such as gzip.',
  body_not_json: 'Pass the body as received, whole and unchanged, and have a proxy undo a content-encoding.',
  body_not_object: 'Pass the body as received: an event is a JSON object.',
  body_too_deep: 'Refuse it: no event is nested so deeply.',
  body_ambiguous: 'Refuse it, or use a scheme that signs the text (as-sent).',
  signature_missing: 'Pass a signed body: an event has a top-level `signature` member.',
  signature_duplicated: 'Refuse it: no serializer writes two signatures.',
  signature_malformed: 'If the service sent it, find the encoding with learn.',
  signature_mismatch:
    'If the service sent it, find out why with explainMismatch of partner-exchange-sdk/diagnostics.',
} as const satisfies Remedies;

export const storeRemedies = {
  store_failed: 'See the cause, and run the change again: it reads what was written.',
  disk_full: 'Free some space, and run the change again.',
  store_conflict: 'Nothing was written: run the change again.',
  store_lost: 'Nothing was written: restore the records of Redis, or start the process again without them.',
  newer_format: 'Update this process to the version that wrote it, or leave it to a process of that version.',
  store_closed: 'Create a new store, or close it after everything that uses it.',
} as const satisfies Remedies;

export const validationRemedies = {
  invalid_input: '',
  address_refused:
    'Nothing was sent: ask the buyer again; if it is right, pass it with the acceptAddress option.',
} as const satisfies Remedies;
