import Stripe from 'stripe';
import { sampleKey, sampleText, signText } from './sample-event.ts';

export const stripeSecret = 'whsec_bench';

/** Deliveries that differ from each other, each with a signature of ours in the body and of stripe's in the head. */
export function makeRequests(count: number): Buffer[] {
  const { webhooks } = new Stripe('sk_test_bench');
  const { signature: _, ...event } = JSON.parse(sampleText);
  return Array.from({ length: count }, (_, index) => {
    const partner_order_id = `PO-2025-${String(index).padStart(6, '0')}`;
    const payload = signText(JSON.stringify({ ...event, partner_order_id }), sampleKey);
    const head = [
      'POST /orders HTTP/1.1',
      'Host: partner.example',
      'Content-Type: application/json',
      `Content-Length: ${payload.length}`,
      `Stripe-Signature: ${webhooks.generateTestHeaderString({ payload, secret: stripeSecret })}`,
    ];
    return Buffer.from(`${head.join('\r\n')}\r\n\r\n${payload}`);
  });
}
