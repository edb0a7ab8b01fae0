import type { RequestErrorDetails } from '../errors/errors.ts';
import { hidden, holdsKey } from '../internal/redact-credentials.ts';
import { echoFinder, hideSpans, redactReply } from '../internal/redact-echo.ts';
import { type Call, secretsOf } from './call.ts';
import type { ReadReply } from './reply.ts';

/** A shorter secret occurs in texts by chance, so only its own characters are hidden. */
const longEnough = 8;

/**
 * The reply as an error shows it. A service may repeat what it got, so each text that repeats a key, a signature, a
 * header or the text of the request is hidden whole, in any spelling, and so is a copy of the request as an object.
 * Personal data is hidden where it stands. Everything else stays: a reply may hold new keys, which are nowhere else.
 *
 * @param personal values of the request
 */
export function shownReply(
  call: Call,
  { headers, body }: Pick<ReadReply, 'headers' | 'body'>,
  personal: readonly string[],
): Pick<RequestErrorDetails, 'headers' | 'body'> {
  const secrets = secretsOf(call).filter((secret) => secret.length > 3);
  const findSecrets = echoFinder(secrets.filter((secret) => secret.length >= longEnough));
  const short = secrets.filter((secret) => secret.length < longEnough);
  const findOthers = echoFinder([...personal, ...short], personal);
  const hideEach = (text: string) => hideSpans(text, [...findSecrets(text), ...findOthers(text)]);

  function show(given: unknown): string {
    const text = String(given);
    const shown = hideEach(text);
    // A text that also names a new key keeps it.
    return findSecrets(text).length === 0 || holdsKey(shown) ? shown : hidden;
  }

  const request = call.body === undefined ? undefined : membersOf(JSON.parse(call.body));
  const isRequest = (value: object) => request !== undefined && isCopy(value, request);
  const shownHeaders = [...headers].map(([name, value]): [string, string] => [
    name,
    // Without it nobody can tell where the service redirects to.
    name === 'location' ? hideEach(value) : show(value),
  ]);
  return { headers: new Headers(shownHeaders), body: redactReply(body, show, { isHidden: isRequest }) };
}

type Members = ReadonlyMap<string, unknown>;

/** Without the signature, which a copy may lack. */
function membersOf(value: unknown): Members | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const members = new Map<string, unknown>(Object.entries(value));
  members.delete('signature');
  return members.size === 0 ? undefined : members;
}

/** Whether an object has the members of the request, and no others. */
function isCopy(value: object, request: Members): boolean {
  const members = membersOf(value);
  return (
    members?.size === request.size && [...request].every(([name, own]) => isSame(own, members.get(name)))
  );
}

/** Goes no deeper than the request, however deep the reply is. */
function isSame(own: unknown, other: unknown): boolean {
  if (typeof own !== 'object' || own === null) return own === other;
  if (typeof other !== 'object' || other === null) return false;
  const others = new Map<string, unknown>(Object.entries(other));
  const members = Object.entries(own);
  return members.length === others.size && members.every(([name, each]) => isSame(each, others.get(name)));
}
