import type { remedies } from './error-tables.ts';

type Tables = typeof remedies;
type Code = { [Kind in keyof Tables]: keyof Tables[Kind] }[keyof Tables];

/** The causes of each code, the likeliest first. Only for docs/errors.md. */
export const errorCauses: Readonly<Record<Code, readonly string[]>> = {
  invalid_deployment: [
    'a base URL without `https://`, or with `http://` to another host',
    'a misspelt option',
    'an unset variable that was passed on as an empty text',
  ],
  invalid_credentials: [
    'an environment variable is not set',
    'two keys are swapped',
    'a key was copied with a blank or a line break',
  ],
  invalid_option: ['a misspelt option', 'a number or text of the wrong form'],
  invalid_scheme: ['the scheme was typed by hand', 'the scheme comes from a newer version of the package'],
  invalid_environment: [
    'a misspelt variable',
    'a value of the wrong form',
    'one key is set and those that belong to it are not',
  ],
  not_configured: [
    'an environment variable is not set',
    'the operation needs something that the others do not',
    'no address of it is published',
  ],
  duplicate_handler: ['two calls of `on` for one event', 'a module that registers handlers is loaded twice'],
  raw_body_required: [
    'a JSON middleware runs before the webhooks',
    'the platform parses JSON by itself',
    'the parsed event was passed to `verifyBody`',
  ],
  browser_environment: ['the client is part of a page', 'a test runs under jsdom'],
  runtime_too_old: [
    'the server, the container or the function runs an earlier Node than the machine it was written on',
  ],
  store_unavailable: [
    'Redis or PostgreSQL is down or cannot be reached',
    'the store is slower than the deliveries arrive',
    'the file was deleted, replaced, or belongs to another user',
  ],
  store_full: ['the disk is full', 'deliveries are stored and not handled'],
  inbox_stopped: ['the server still accepts requests while the program ends', '`stop` was called too early'],
  handler_timeout: [
    'a call in the handler hangs: give it a time limit of its own',
    'the handler waits for another delivery',
    '`timeLimitMs` is too short',
  ],
  lease_lost: [
    'the process was killed or ran out of memory',
    'the event loop was blocked for longer than the lease',
    'the machine slept',
  ],
  invalid_message: [
    'another program writes to the queue',
    'the queue wraps or changes messages',
    'a message of another version',
  ],
  event_unrecognized: [
    'the service sends an event that is not published',
    'a member of a published event is missing, or has another type or spelling',
    'the order was made by another kind of order, such as selling',
  ],
  keys_unavailable: [
    'the source of the keys cannot be reached',
    'nothing was received yet',
    'the ring was used before its first load',
  ],
  keys_not_loaded: ['the source of the keys is down', '`load` returned something else than keys'],
  keys_cooling_down: ['a forged event', 'the keys were changed a moment ago', 'another signature scheme'],
  keys_known: ['the old keys were pasted instead of those of the new e-mail'],
  keys_of_another_partner: [
    'the link of another partner was opened',
    'the name was typed wrong',
    'the storage of another partner',
  ],
  keys_not_received: ['the link in the e-mail was not opened yet', 'the e-mail was lost'],
  keys_replaced: ['keys were replaced twice in a short time', 'a request took long while keys were replaced'],
  keys_unconfirmed: [
    'the new keys were typed wrong',
    'a forged event',
    'the service still signs with other keys',
  ],
  rotation_pending: ['an earlier rotation was not finished', 'two programs rotate the same keys'],
  rotation_unknown: ['the connection broke', 'the process ended while it asked'],
  key_storage_invalid: [
    'the record is of something else',
    'the record was edited',
    'another key of encryption',
  ],
  different_order: ['the amount or address changed between two attempts', 'ids are not unique'],
  in_progress: [
    'two requests of one user at the same time',
    'the process that sent it died: the lease ends soon',
  ],
  outcome_unknown: [
    'the reply was lost',
    'the service answered with 5xx',
    'the process died while it sent the order',
  ],
  order_refused: [
    'a member of the order is not accepted',
    'the IP address is not whitelisted',
    'the signature or a key is wrong',
  ],
  order_abandoned: ['somebody settled it as abandoned'],
  order_not_found: ['a misspelt id', 'another store or prefix', 'the record has expired'],
  already_settled: ['an event or another person settled it first'],
  undecided_events: ['an event came after the person had looked', '`events` of `settle` is missing'],
  event_not_found: ['a misspelt digest', 'the event does not differ from the order'],
  order_mismatch: [
    'the service credits another address, chain or currency, or somebody has changed the order there',
    'another program uses the id for another order',
    'the service writes addresses in a form of its own: set `sameOrder` of the deployment',
  ],
  rate_limited: [
    'more orders in a short time than the service takes',
    'the service acts on orders that it answers so: set `orderStatuses` of the deployment',
  ],
  waiting_for_keys: [
    'new keys were asked for, and the link to them was not opened yet',
    'another process received new keys a moment ago',
  ],
  cool_down: ['the user asked again at once', 'a form was submitted twice'],
  limit_reached: ['one person asks too often', 'an attack by one address', 'many users share one address'],
  not_allowed: ['a number of another country', 'the code expired or was used'],
  not_sent: ['the device is not connected', 'the API key is wrong', 'the messenger is down'],
  refused: ['the number is not on the messenger', 'the number is misspelt'],
  connection_failed: [
    'the host of the base URL is misspelt',
    'the service or the network is down',
    'a proxy or firewall refuses it',
    'the only way out is a proxy: the environment names one, and Node uses it only with `NODE_USE_ENV_PROXY=1` (Node 22.21 or later)',
    'its certificate is not trusted',
  ],
  network_error: ['the network is unstable', 'a proxy has a short time limit', 'the service was restarted'],
  timeout: [
    'the service is slow',
    'a firewall drops packets',
    'too many calls at once: limit them, for example with p-limit',
  ],
  aborted: ['the `signal` of the call was aborted, e.g. because the user left'],
  redirected: [
    '`http://` instead of `https://`',
    'the service has moved',
    'a slash too many or too few at the end of a path',
  ],
  http_error: [
    '401 or 403: the IP address is not whitelisted, a wrong key, or another signature scheme',
    '400 or 422: a member of the request',
    '404 or 405: a wrong base URL or path',
    '429: too many requests',
    '5xx: the service is down',
  ],
  reply_too_large: [
    'the base URL is of something else, such as a website',
    'the service sends large replies',
  ],
  reply_nonconforming: ['the schema is stricter than the service', 'the service has changed its replies'],
  reply_not_accepted: [
    'the service refused the order with status 2xx',
    'the service accepts orders with a text, an empty body, or an object that looks like a failure',
    'a gateway answered in the place of the service',
  ],
  method_not_allowed: [
    'a health check or a browser asks for the webhook address',
    'the address of the webhooks is used for something else',
  ],
  body_too_large: ['somebody else posts to the address', 'events are larger than usual'],
  body_timeout: ['a slow or broken caller', 'a proxy holds the body back'],
  body_unreadable: ['the caller broke off', 'the server is shutting down'],
  body_not_utf8: [
    'bytes were converted to text in another encoding',
    'the service or a proxy compresses requests',
  ],
  body_not_json: [
    'the body is empty, because something read it before',
    'the body is a form or a page',
    'the body was cut',
  ],
  body_not_object: ['the body was stringified twice', 'somebody else posts to the address'],
  body_too_deep: ['an attack'],
  body_ambiguous: ['an attack', 'the wrong serialisation in the scheme'],
  signature_missing: [
    'a test that does not sign',
    'somebody else posts to the address',
    'the service signs elsewhere, e.g. in a header',
  ],
  signature_duplicated: ['an attack'],
  signature_malformed: ['the service writes signatures in another encoding', 'a placeholder in a test'],
  signature_mismatch: [
    'a key is wrong or was replaced',
    'the deployment signs in another way than the scheme says',
    'something parsed the body and wrote it again',
    'a forgery',
  ],
  not_committed: [
    'the handler rolled back, and did not throw',
    'it returned before its commit, for example without `await`',
    'the connection broke at the commit',
  ],
  unknown: [
    'the process of `run` died',
    '`run` threw, and `outcomeOf` does not say that nothing happened',
    '`run` took longer than `leaseMs`',
  ],
  different_input: [
    'two events report one step of an order with different hashes',
    'one key for two effects',
  ],
  store_failed: [
    'Redis or PostgreSQL is down or cannot be reached',
    'the connection broke',
    'another program writes to the same records',
  ],
  disk_full: ['the disk is full', 'a quota of the user is used up'],
  store_conflict: ['many processes change one record', 'another program holds a lock on the file'],
  store_lost: [
    'Redis was restarted without persistence',
    '`FLUSHALL`, or a policy that evicts keys',
    'a failover to a replica that was behind',
  ],
  newer_format: [
    'two versions run at once during an update',
    'the package was set back to an earlier version',
  ],
  store_closed: ['the store was closed before what uses it', 'a test closes a store that another one shares'],
  invalid_input: [
    'a member is missing or misspelt',
    'a number where the service wants decimal text',
    'a phone number without its country',
  ],
  address_refused: [
    'a typing error, or a character that was lost when the address was copied',
    'an address of another chain, or of a token instead of a buyer',
    'an example address of these pages, sent to a real service',
    'the service names a chain like one of the table, and means another (ledger: `address-form`)',
  ],
};
