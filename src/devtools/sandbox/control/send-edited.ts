import type * as z from 'zod';
import { signingKey } from '../../../credentials/signing-key.ts';
import { fromWireNames } from '../../../deployment/wire-names.ts';
import { isPartnerExchangeError, whatFailed } from '../../../errors/errors.ts';
import { findMembers } from '../../../internal/json-scanner.ts';
import { hidden } from '../../../internal/redact-credentials.ts';
import { writeSignature } from '../../../signature/digest.ts';
import { canonicalText } from '../../../signature/serializations.ts';
import { signBody } from '../../../signature/sign-body.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import { removeSignature } from '../../../signature/signed-body.ts';
import { withoutHopHeaders } from '../hop-headers.ts';
import type { Sandbox } from '../sandbox.ts';
import { orderKey } from '../service/post-event.ts';
import { type EventFaultName, forgeries } from '../settings/event-faults.ts';
import { Refusal } from '../wire/requests.ts';
import type { Partner } from '../world/partner-registry.ts';
import type { SandboxState } from '../world/state.ts';
import type { TraceEntry } from '../world/trace.ts';
import { asObject, examineSignature, partnerOf, purposeOf } from './examine-signature.ts';
import { hideGivenKeys } from './given-keys.ts';
import type { SentCopy, sandboxCopySchema } from './schemas.ts';

type Edit = z.output<typeof sandboxCopySchema>;

/** Sends an edited copy: of an event to its callback, of a request to this sandbox. @throws {Refusal} */
export async function sendEdited(
  sandbox: Sandbox<unknown>,
  state: SandboxState,
  { entry, edit }: { entry: TraceEntry; edit: Edit },
): Promise<SentCopy> {
  if (entry.kind !== 'event' && entry.kind !== 'request') {
    throw new Refusal(409, 'not_sendable', 'Only a request or an event can be sent again.');
  }
  const url = edit.url ?? entry.url ?? '';
  if (!URL.canParse(url)) {
    throw new Refusal(400, 'address_needed', 'This event has no address: give the one of your receiver.');
  }
  const partner =
    partnerOf(state, { headers: edit.headers }) ?? partnerOf(state, entry) ?? onlyPartner(state);
  // The page shows, and so sends, a copy without the keys that the caller gave.
  const isUnchanged = edit.body === undefined || edit.body === hideGivenKeys(state, entry).body;
  const text = isUnchanged ? entry.body : edit.body;
  const body = edit.signature === 'renew' ? signedAgain(state, { entry, text, partner }) : text;
  const { headers, lacks } = sentHeaders(edit.headers ?? entry.headers, entry.headers);
  // A changed text cannot get back the keys that the page did not show.
  if (text !== entry.body && text?.includes(hidden)) lacks.push('the keys in its body');
  const copy = { ...entry, url, body, headers };
  const sent =
    entry.kind === 'event'
      ? await postCopy(state, copy, {
          partner,
          faults: body === entry.body ? forgeriesOf(entry) : faultsOf(state, copy),
        })
      : await requestCopy(sandbox, state, copy);
  return { ...sent, ...(lacks.length > 0 && { lacks }) };
}

type Copy = TraceEntry & { readonly headers: Readonly<Record<string, string>> };

interface CopyFacts {
  readonly partner: Partner | undefined;
  readonly faults: readonly EventFaultName[];
}

async function postCopy(state: SandboxState, copy: Copy, { partner, faults }: CopyFacts): Promise<SentCopy> {
  const { deliveryQueue, trace, deployment } = state;
  const { id, url = '', body = '', headers } = copy;
  const original = deliveryQueue.deliveries.find((delivery) => delivery.id === copy.delivery);
  const value = asObject(body);
  const { event_name: name } = (value && fromWireNames(value, deployment.wireNames)) ?? {};
  const delivery = await deliveryQueue.postOnce({
    name: typeof name === 'string' ? name : (copy.event ?? 'event'),
    platform_order_ref: original?.platform_order_ref ?? '',
    partner_order_id: copy.order ?? '',
    url,
    body,
    faults,
    publicKey: partner?.credentials.partnerPublicKey ?? '',
    headers,
    note: `Edited copy of #${id}.`,
  });
  const { status, error } = delivery;
  const posted = trace.view.entries.find((entry) => entry.delivery === delivery.id);
  return { exchange: posted?.id, status, error };
}

/** An unchanged copy is what the original is, also after the keys have changed. */
function forgeriesOf({ faults }: TraceEntry): EventFaultName[] {
  return forgeries.filter((fault) => faults.includes(fault));
}

/** A receiver has to refuse a changed copy whose signature does not hold, as it refuses a tampered event. */
function faultsOf(state: SandboxState, copy: Copy): readonly EventFaultName[] {
  const { holds, isExpectedKey } = examineSignature(state, { ...copy, time: state.clock.now() }) ?? {};
  if (holds && isExpectedKey !== false) return [];
  return copy.faults.includes('forged') ? ['forged'] : ['tampered'];
}

async function requestCopy(sandbox: Sandbox<unknown>, { trace, options }: SandboxState, copy: Copy) {
  const { url = '', method = 'POST', body, headers } = copy;
  const last = trace.view.entries.at(-1)?.id ?? 0;
  const signal = AbortSignal.timeout(options.callbackTimeoutMs);
  const answer = await send();
  const sent = trace.view.entries.find(
    (entry) =>
      entry.id > last && entry.kind === 'request' && entry.url === url && entry.body === (body ?? ''),
  );
  return { exchange: sent?.id, ...answer };

  async function send(): Promise<SentCopy> {
    try {
      const content = method === 'GET' || method === 'HEAD' ? null : (body ?? null);
      const response = await sandbox.fetch(url, { method, headers, body: content, signal });
      await response.body?.cancel();
      return { status: response.status };
    } catch (error) {
      return { error: error instanceof Error ? error.name : 'unknown' };
    }
  }
}

/**
 * Without the headers of the earlier connection. A hidden value is that of the original; a header that the original
 * does not have is left out, and named.
 */
function sentHeaders(
  headers: Readonly<Record<string, string>> = {},
  original: Readonly<Record<string, string>> = {},
): { headers: Record<string, string>; lacks: string[] } {
  const values = withoutHopHeaders(Object.entries(headers)).map(([name, shown]) => ({
    name,
    value: shown.includes(hidden) ? original[name.toLowerCase()] : shown,
  }));
  return {
    headers: Object.fromEntries(
      values.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
    ),
    lacks: values.filter(({ value }) => value === undefined).map(({ name }) => name),
  };
}

function onlyPartner({ partners }: SandboxState): Partner | undefined {
  return partners.all.length === 1 ? partners.all[0] : undefined;
}

interface Unsigned {
  readonly entry: TraceEntry;
  readonly text: string | undefined;
  readonly partner: Partner | undefined;
}

/** The text with a signature of the partner's current key. Everything else stays as it is spelled. */
function signedAgain(state: SandboxState, { entry, text = '', partner }: Unsigned): string {
  const purpose = purposeOf(entry);
  if (purpose === undefined) {
    throw new Refusal(409, 'not_signed', 'Requests of this kind are not signed: send it without signing.');
  }
  if (partner === undefined) {
    const message = 'No partner of this sandbox has the key in the Authorization header: keep the signature.';
    throw new Refusal(409, 'unknown_partner', message);
  }
  const { deployment } = state;
  const value = asObject(text);
  if (value === undefined) throw new Refusal(400, 'body_not_object', 'Only a JSON object can be signed.');
  const { credentials } = partner;
  const { fiat_currency } = fromWireNames(value, deployment.wireNames);
  const key =
    purpose === 'order'
      ? orderKey(state, credentials, { fiat_currency })
      : signingKey(credentials, purpose, { scheme: deployment.signature });
  try {
    return withSignature(text, { key, scheme: deployment.signature });
  } catch (error) {
    throw isPartnerExchangeError(error) ? new Refusal(400, error.code, whatFailed(error)) : error;
  }
}

function withSignature(text: string, { key, scheme }: { key: string; scheme: SignatureScheme }): string {
  const { signature: _, ...value } = asObject(text) ?? {};
  const [member] = findMembers(text, 'signature');
  if (member === undefined) return signBody(value, { key, scheme }).text;
  const signed = canonicalText(scheme, { json: removeSignature(text), value });
  const signature = JSON.stringify(writeSignature(scheme, key, signed));
  return text.slice(0, member.value.start) + signature + text.slice(member.value.end);
}
