import { requestRefusalRemedies, signatureRemedies } from '../../../errors/remedies.ts';
import { isForgery } from '../settings/event-faults.ts';
import type { TraceEntry } from '../world/trace.ts';

/** The advice for the status with which a receiver refused a genuine event. */
const remedies: Readonly<Record<number, string>> = {
  400: signatureRemedies.body_not_json,
  401: signatureRemedies.signature_mismatch,
  403: signatureRemedies.signature_mismatch,
  405: requestRefusalRemedies.method_not_allowed,
  408: requestRefusalRemedies.body_timeout,
  413: requestRefusalRemedies.body_too_large,
  415: 'Have the receiver read the body whatever its headers say: the signature covers the bytes.',
};

/** Says what to do about a genuine event that the receiver refused; `undefined` for every other exchange. */
export function refusalAdvice(entries: readonly TraceEntry[]): string[] | undefined {
  const [event] = entries;
  const status = entries.findLast(({ kind }) => kind === 'event_reply')?.status;
  if (event?.kind !== 'event' || status === undefined || status < 400 || status >= 500) return undefined;
  // After a regeneration a receiver may know the new keys alone.
  if (isForgery(event) || event.faults.includes('old_key')) return undefined;
  const remedy = remedies[status];
  const isSignature = remedy === signatureRemedies.signature_mismatch;
  return [
    `The sandbox signed this event as the service does, and the receiver answered ${status}.`,
    ...(remedy === undefined ? [] : [remedy]),
    ...(isSignature
      ? [
          `"partner-exchange attack ${event.url ?? ''}" names the fault of the receiver: a wrong key, or a body that was parsed and written again.`,
        ]
      : []),
  ];
}
