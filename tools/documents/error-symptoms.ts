import type { remedies } from '../../src/errors/remedies.ts';

type Tables = typeof remedies;
type Code = { [Kind in keyof Tables]: keyof Tables[Kind] }[keyof Tables];

/** How a user meets a code. Only for docs/errors.md. */
export interface Symptom {
  /** How its messages begin, or what they hold; `…` stands for text that varies. Empty if only a response has it. */
  readonly messages: readonly string[];
  /** The causes, the likeliest first. */
  readonly causes: readonly string[];
}

export const symptoms: Readonly<Record<Code, Symptom>> = {
  too_many_failures: {
    messages: ['… messages in a row were not sent'],
    causes: [
      'the messenger is down',
      'the base URL or the path of `sendMessage` is wrong',
      'the network of this machine is down',
    ],
  },
  no_device_left: {
    messages: ['The service refused the API key of every device'],
    causes: ['the devices are not paired, or were logged out', 'the API keys were replaced'],
  },
  csv_unreadable: {
    messages: ['The CSV file cannot be read: …'],
    causes: [
      'another delimiter or another name of a column than expected',
      'a quote that is never closed',
      'the file is not CSV',
    ],
  },
  invalid_deployment: {
    messages: ['Two operations have the address …', 'an option of `defineDeployment`, by its name'],
    causes: [
      'a base URL without `https://`, or with `http://` to another host',
      'a misspelt option',
      'an unset variable that was passed on as an empty text',
    ],
  },
  invalid_credentials: {
    messages: [
      'There are no credentials.',
      'A pin needs either key or credentials',
      '… of the pin needs the key with the digest …',
      'a key, by its name',
    ],
    causes: [
      'an environment variable is not set',
      'two keys are swapped',
      'a key was copied with a blank or a line break',
    ],
  },
  invalid_option: {
    messages: ['an option, by its name'],
    causes: ['a misspelt option', 'a number or text of the wrong form'],
  },
  invalid_scheme: {
    messages: ["The signature scheme's …"],
    causes: ['the scheme was typed by hand', 'the scheme comes from a newer version of the package'],
  },
  invalid_environment: {
    messages: ['a variable, by its name'],
    causes: [
      'a misspelt variable',
      'a value of the wrong form',
      'one key is set and those that belong to it are not',
    ],
  },
  not_configured: {
    messages: [
      '… needs credentials, and ExchangeClient was given none',
      '… needs an API key, and was given none',
      'The path of … is not published',
      'generateApiKey needs the masterKey of MessengerClient',
      'request needs the exchange of createKeyRotation',
      'keyFile needs a file system, and this runtime has none',
    ],
    causes: [
      'an environment variable is not set',
      'the operation needs something that the others do not',
      'no address of it is published',
    ],
  },
  duplicate_handler: {
    messages: ['… is registered twice'],
    causes: ['two calls of `on` for one event', 'a module that registers handlers is loaded twice'],
  },
  raw_body_required: {
    messages: [
      'A signature is checked over the raw body, not over a parsed object',
      'The body of the event was parsed before its signature could be checked',
      'The body was parsed before its signature could be checked',
    ],
    causes: [
      'a JSON middleware runs before the webhooks',
      'the platform parses JSON by itself',
      'the parsed event was passed to `verifyBody`',
    ],
  },
  browser_environment: {
    messages: ['This looks like a browser, where anybody can read secret keys'],
    causes: ['the client is part of a page', 'a test runs under jsdom'],
  },
  runtime_too_old: {
    messages: ['Node … is too old for this package'],
    causes: [
      'the server, the container or the function runs an earlier Node than the machine it was written on',
    ],
  },
  store_unavailable: {
    messages: [
      'The store of the inbox cannot be used now',
      '… deliveries wait for the store of the inbox',
      'The store of the one-time codes failed',
    ],
    causes: [
      'Redis or PostgreSQL is down or cannot be reached',
      'the store is slower than the deliveries arrive',
      'the file was deleted, replaced, or belongs to another user',
    ],
  },
  store_full: {
    messages: ['The disk of the inbox is full'],
    causes: ['the disk is full, or has less than 4 MB left', 'deliveries are stored and not handled'],
  },
  inbox_stopped: {
    messages: ['The inbox was stopped.', 'The inbox was stopped while the handler was running'],
    causes: ['the server still accepts requests while the program ends', '`stop` was called too early'],
  },
  handler_timeout: {
    messages: ['A handler did not settle within … ms'],
    causes: [
      'a call in the handler hangs: give it a time limit of its own',
      'the handler waits for another delivery',
      '`timeLimitMs` is too short',
    ],
  },
  lease_lost: {
    messages: ['The process that handled it for the last time died, or lost its lease'],
    causes: [
      'the process was killed or ran out of memory',
      'the event loop was blocked for longer than the lease',
      'the machine slept',
    ],
  },
  invalid_message: {
    messages: ['A message of the queue is no delivery of queueInbox: …'],
    causes: [
      'another program writes to the queue',
      'the queue wraps or changes messages',
      'a message of another version',
    ],
  },
  event_unrecognized: {
    messages: ['The authentic event …'],
    causes: [
      'the service sends an event that is not published',
      'a member of a published event is missing, or has another type or spelling',
      'the order was made by another kind of order, such as selling',
    ],
  },
  keys_unavailable: {
    messages: [
      'The key ring has not read its keys yet',
      'The key ring has no keys: …',
      'The storage holds no keys',
      'The credentials function of createWebhooks …',
    ],
    causes: [
      'the source of the keys cannot be reached',
      'nothing was received yet',
      'the ring was used before its first load',
    ],
  },
  keys_not_loaded: {
    messages: ['The keys could not be loaded: …', 'load did not settle within … ms'],
    causes: ['the source of the keys is down', '`load` returned something else than keys'],
  },
  keys_cooling_down: {
    messages: [
      'The key ring read its keys … ago, and reads them again in …',
      'The key ring may hold old keys, and reads them again in …',
    ],
    causes: ['a forged event', 'the keys were changed a moment ago', 'another signature scheme'],
  },
  keys_known: {
    messages: ['These are the keys that sign now'],
    causes: ['the old keys were pasted instead of those of the new e-mail'],
  },
  keys_of_another_partner: {
    messages: ['These are keys of …, and those that are stored are of …'],
    causes: [
      'the link of another partner was opened',
      'the name was typed wrong',
      'the storage of another partner',
    ],
  },
  keys_not_received: {
    messages: ['New keys were asked for and not received yet', 'The new keys were not received'],
    causes: ['the link in the e-mail was not opened yet', 'the e-mail was lost'],
  },
  keys_replaced: {
    messages: ['Newer keys came while the service refused a request with the ones before'],
    causes: ['keys were replaced twice in a short time', 'a request took long while keys were replaced'],
  },
  keys_unconfirmed: {
    messages: ['No delivery has matched the newest keys since they were received'],
    causes: ['the new keys were typed wrong', 'a forged event', 'the service still signs with other keys'],
  },
  rotation_pending: {
    messages: [
      'New keys were asked for at …, and not received yet',
      'New keys were received, and are not promoted yet',
    ],
    causes: ['an earlier rotation was not finished', 'two programs rotate the same keys'],
  },
  rotation_unknown: {
    messages: ['It is not known whether the service got the request for new keys of …'],
    causes: ['the connection broke', 'the process ended while it asked'],
  },
  key_storage_exposed: {
    messages: [
      'Other users may read the key file …',
      'The key file … belongs to another user',
      'The symbolic link … belongs to another user',
    ],
    causes: ['the file was copied or made by hand', 'the program runs as another user'],
  },
  key_storage_invalid: {
    messages: [
      'The stored text is not the state of a key rotation: …',
      '… is too large for a key file',
      'The record with the keys …',
    ],
    causes: [
      'the path or the record is of something else',
      'the file was edited',
      'another key of encryption',
    ],
  },
  key_storage_locked: {
    messages: ['Another process keeps the key file … locked'],
    causes: [
      'another process hangs while it holds the lock',
      'a process on another machine died with the lock',
    ],
  },
  key_storage_failed: {
    messages: [
      'The key file … cannot be used (…)',
      '… is …, not a file',
      '… is not a file, and stands for a lock',
      'The symbolic links at … lead in a circle',
    ],
    causes: ['the folder does not exist, or is not writable', 'the path is of a folder', 'the disk is full'],
  },
  different_order: {
    messages: ['Order … is in the journal with another payload or merchant'],
    causes: ['the amount or address changed between two attempts', 'ids are not unique'],
  },
  in_progress: {
    messages: [
      'Order … is being sent by another call, or by a process that has died',
      'Another call, perhaps of another process, runs the effect',
    ],
    causes: [
      'two requests of one user at the same time',
      'the process that sent it died: the lease ends soon',
    ],
  },
  outcome_unknown: {
    messages: ['Order … was sent before, and nothing tells yet whether the service has it'],
    causes: [
      'the reply was lost',
      'the service answered with 5xx',
      'the process died while it sent the order',
    ],
  },
  order_refused: {
    messages: ['Order … was refused by the service before'],
    causes: [
      'a member of the order is not accepted',
      'the IP address is not whitelisted',
      'the signature or a key is wrong',
    ],
  },
  order_abandoned: {
    messages: ['Order … was given up by a person'],
    causes: ['somebody settled it as abandoned'],
  },
  order_not_found: {
    messages: ['Order … is not in the journal'],
    causes: ['a misspelt id', 'another store or prefix', 'the record has expired'],
  },
  already_settled: {
    messages: ['Order … is settled in another way already', 'The effect has a result already'],
    causes: ['an event or another person settled it first'],
  },
  order_mismatch: {
    messages: ['The authentic event … of order … is not about what was ordered (…)'],
    causes: [
      'the service credits another address, chain or currency, or somebody has changed the order there',
      'another program uses the id for another order',
      'the service writes addresses in a form of its own: set `sameOrder` of the deployment',
    ],
  },
  waiting_for_keys: {
    messages: ['Order … was refused under keys that are being replaced, and waits for the new ones'],
    causes: [
      'new keys were asked for, and the link to them was not opened yet',
      'another process received new keys a moment ago',
    ],
  },
  cool_down: {
    messages: ['The phone number got a code a moment ago'],
    causes: ['the user asked again at once', 'a form was submitted twice'],
  },
  limit_reached: {
    messages: ['The limit "…" is reached for another … s', 'This code was sent maxSends times'],
    causes: ['one person asks too often', 'an attack by one address', 'many users share one address'],
  },
  not_allowed: {
    messages: ['The phone number begins with none of allowedPrefixes', 'There is no code to send again'],
    causes: ['a number of another country', 'the code expired or was used'],
  },
  not_sent: {
    messages: [
      'No device could send the code, and nothing was counted',
      'The code expired before it could leave',
    ],
    causes: ['the device is not connected', 'the API key is wrong', 'the messenger is down'],
  },
  refused: {
    messages: ['The service does not take this phone number, and no code was sent: …'],
    causes: ['the number is not on the messenger', 'the number is misspelt'],
  },
  connection_failed: {
    messages: ['…: no connection could be made (…)'],
    causes: [
      'the host of the base URL is misspelt',
      'the service or the network is down',
      'a proxy or firewall refuses it',
      'its certificate is not trusted',
    ],
  },
  network_error: {
    messages: ['…: the connection broke before a whole reply was read'],
    causes: ['the network is unstable', 'a proxy has a short time limit', 'the service was restarted'],
  },
  timeout: {
    messages: ['…: no reply came in time'],
    causes: ['the service is slow', 'a firewall drops packets', 'too many calls at once: see `concurrency`'],
  },
  aborted: {
    messages: ['…: the call was aborted'],
    causes: ['the `signal` of the call was aborted, e.g. because the user left'],
  },
  redirected: {
    messages: ['…: the service answered with a redirect, which is not followed'],
    causes: [
      '`http://` instead of `https://`',
      'the service has moved',
      'a slash too many or too few at the end of a path',
    ],
  },
  http_error: {
    messages: ['…: the service answered with an error'],
    causes: [
      '401 or 403: the IP address is not whitelisted, a wrong key, or another signature scheme',
      '400 or 422: a member of the request',
      '404 or 405: a wrong base URL or path',
      '429: too many requests',
      '5xx: the service is down',
    ],
  },
  reply_too_large: {
    messages: ['…: the reply is larger than maxReplyBytes'],
    causes: ['the base URL is of something else, such as a website', 'the service sends large replies'],
  },
  reply_nonconforming: {
    messages: ['…: the reply does not fit the schema given'],
    causes: ['the schema is stricter than the service', 'the service has changed its replies'],
  },
  reply_not_accepted: {
    messages: [
      '…: the reply denies the order by its member …',
      '…: the reply is not a JSON object, so nothing in it accepts the order',
    ],
    causes: [
      'the service refused the order with status 2xx',
      'the service accepts orders with a text, an empty body, or an object that looks like a failure',
      'a gateway answered in the place of the service',
    ],
  },
  method_not_allowed: {
    messages: [],
    causes: [
      'a health check or a browser asks for the webhook address',
      'the address of the webhooks is used for something else',
    ],
  },
  unsupported_media_type: {
    messages: [],
    causes: ['the service or a proxy compresses requests'],
  },
  body_too_large: {
    messages: [],
    causes: ['somebody else posts to the address', 'events are larger than usual'],
  },
  body_timeout: { messages: [], causes: ['a slow or broken caller', 'a proxy holds the body back'] },
  body_unreadable: { messages: [], causes: ['the caller broke off', 'the server is shutting down'] },
  body_not_utf8: {
    messages: ['The body is not UTF-8 text', 'The body has half of a surrogate pair'],
    causes: ['bytes were converted to text in another encoding', 'the body is still compressed'],
  },
  body_not_json: {
    messages: ['The body is …'],
    causes: [
      'the body is empty, because something read it before',
      'the body is a form or a page',
      'the body was cut',
    ],
  },
  body_not_object: {
    messages: ['The body is not a JSON object'],
    causes: ['the body was stringified twice', 'somebody else posts to the address'],
  },
  body_too_deep: {
    messages: [
      'The body is nested too deeply to be read',
      'The body is nested too deeply to be serialised again',
    ],
    causes: ['an attack'],
  },
  body_ambiguous: {
    messages: ['The body has -0 or a number that is out of range'],
    causes: ['an attack', 'the wrong serialisation in the scheme'],
  },
  signature_missing: {
    messages: ['The body has no top-level signature'],
    causes: [
      'a test that does not sign',
      'somebody else posts to the address',
      'the service signs elsewhere, e.g. in a header',
    ],
  },
  signature_duplicated: {
    messages: ['The body has more than one top-level signature'],
    causes: ['an attack'],
  },
  signature_malformed: {
    messages: ['The signature is not a SHA-512 digest written as …'],
    causes: ['the service writes signatures in another encoding', 'a placeholder in a test'],
  },
  signature_mismatch: {
    messages: [
      'The signature does not match: another key, another signature scheme, or a changed body',
      'The credentials function of createWebhooks knows no partner for this request',
    ],
    causes: [
      'a key is wrong or was replaced',
      'the deployment signs in another way than the scheme says',
      'something parsed the body and wrote it again',
      'a forgery',
    ],
  },
  not_committed: {
    messages: ['The transaction in which a handler marked its delivery was not committed'],
    causes: [
      'the handler rolled back, and did not throw',
      'it returned before its commit, for example without `await`',
      'the connection broke at the commit',
    ],
  },
  unknown: {
    messages: ['The effect was begun and its result was never written'],
    causes: [
      'the process of `run` died',
      '`run` threw, and `outcomeOf` does not say that nothing happened',
      '`run` took longer than `leaseMs`',
    ],
  },
  different_input: {
    messages: ['The key stands for an effect with another fingerprint'],
    causes: ['two events report one step of an order with different hashes', 'one key for two effects'],
  },
  store_failed: {
    messages: [
      'The record store cannot be used now; nothing was written',
      'The record store did not confirm a change, which may have been written',
      'The file of the record store cannot be used now',
      '… transactions wait for the record store',
      'A record of the store is not JSON',
      'A record of the order journal is not in a form that this version knows',
    ],
    causes: [
      'Redis or PostgreSQL is down or cannot be reached',
      'the connection broke',
      'another program writes to the same records',
    ],
  },
  disk_full: {
    messages: ['The disk of the record store is full'],
    causes: ['the disk is full', '`maxBytes` of `sqliteStore` is too small'],
  },
  store_conflict: {
    messages: [
      'Other processes kept changing the same records',
      'Another process kept the file of the record store locked',
    ],
    causes: ['many processes change one record', 'another program holds a lock on the file'],
  },
  store_lost: {
    messages: ['Redis no longer holds the records'],
    causes: [
      'Redis was restarted without persistence',
      '`FLUSHALL`, or a policy that evicts keys',
      'a failover to a replica that was behind',
    ],
  },
  store_closed: {
    messages: ['The record store was closed'],
    causes: ['the store was closed before what uses it', 'a test closes a store that another one shares'],
  },
  invalid_input: {
    messages: ['…: …: must be …'],
    causes: [
      'a member is missing or misspelt',
      'a number where the service wants decimal text',
      'a phone number without its country',
    ],
  },
  address_refused: {
    messages: ['createOrder: …: has a typing error: its checksum does not fit'],
    causes: [
      'a typing error, or a character that was lost when the address was copied',
      'an address of another chain, or of a token instead of a buyer',
      'an example address of these pages, sent to a real service',
      'the service names a chain like one of the table, and means another (ledger: `address-form`)',
    ],
  },
};
