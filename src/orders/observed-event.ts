import { storableText } from '../redaction/storable-text.ts';

/** A verified event: that of a webhook handler, or what `onUnrecognized` gets, whose `body` counts. */
export type ObservedEvent =
  | { readonly partner_order_id?: unknown; readonly platform_order_ref?: unknown }
  | { readonly body: { readonly partner_order_id?: unknown; readonly platform_order_ref?: unknown } };

/** Which order an event tells of. `id` is `undefined` if it names none. */
export function readObserved(event: ObservedEvent): { id: string | undefined; ref: string | undefined } {
  const own = textMember(event, 'partner_order_id');
  const source = own === undefined && 'body' in event ? event.body : event;
  const ref = textMember(source, 'platform_order_ref');
  return {
    id: textMember(source, 'partner_order_id'),
    ref: ref === undefined ? undefined : storableText(ref),
  };
}

function textMember(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const member: unknown = Object.entries(value).find(([each]) => each === name)?.[1];
  return typeof member === 'string' && member !== '' ? member : undefined;
}
