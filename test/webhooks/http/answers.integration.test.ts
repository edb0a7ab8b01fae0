import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { buyInitBody, hmacHex, signedText } from '../../support/bodies.ts';
import { delivery, gate, quietWebhooks, recordingWebhooks, unsignedText } from '../deliveries.ts';
import { describeTransports } from './transports.ts';

const valid = delivery(buyInitBody());
const unsigned = unsignedText(buyInitBody());
const bytes = (text: string) => new TextEncoder().encode(text);

function withSignature(json: string): string {
  return `${unsigned.slice(0, -1)},"signature":${json}}`;
}

/** Webhooks that must not get as far as a handler. */
function closedWebhooks() {
  const reached = () => expect.unreachable('a handler was called');
  return quietWebhooks().onAny(reached).onUnrecognized(reached);
}

// `frameworks/contract.ts` has the answers that every mount gives.
describeTransports('a delivery is answered', (post) => {
  it.each<[string, string | Uint8Array, string]>([
    ['is empty', '', 'body_not_json'],
    ['is not JSON', 'hello', 'body_not_json'],
    ['is a form', 'signature=x&event_name=event.buy.init', 'body_not_json'],
    ['is cut off', valid.slice(0, -1), 'body_not_json'],
    ['has two byte order marks', `\uFEFF\uFEFF${valid}`, 'body_not_json'],
    ['is an array', `[${valid}]`, 'body_not_object'],
    ['is null', 'null', 'body_not_object'],
    ['is a string', JSON.stringify(valid), 'body_not_object'],
    ['is not UTF-8', Uint8Array.from([...bytes('{"a":"'), 0xff, ...bytes('"}')]), 'body_not_utf8'],
    ['is compressed', gzipSync(valid), 'body_not_utf8'],
    ['is UTF-16', Buffer.from(`\uFEFF${valid}`, 'utf16le'), 'body_not_utf8'],
  ])('400 when its body %s', async (_, body, code) => {
    const answer = await post(closedWebhooks(), { body });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, { error: code }]);
  });

  const right = hmacHex(unsigned);
  it.each<[string, string, string]>([
    ['missing', unsigned, 'signature_missing'],
    ['nested', `{"a":${valid}}`, 'signature_missing'],
    ['empty', withSignature('""'), 'signature_malformed'],
    ['null', withSignature('null'), 'signature_malformed'],
    ['a number', withSignature('5'), 'signature_malformed'],
    ['a list', withSignature(`["${right}"]`), 'signature_malformed'],
    ['a character short', withSignature(`"${right.slice(1)}"`), 'signature_malformed'],
    ['a character long', withSignature(`"${right}0"`), 'signature_malformed'],
    ['not hex', withSignature(`"${right.slice(1)}x"`), 'signature_malformed'],
    ['in another encoding', withSignature(`"${right.toUpperCase()}"`), 'signature_malformed'],
    ['there twice', withSignature(`"${right}","signature":"${right}"`), 'signature_duplicated'],
    [
      'there twice, once with an escape',
      withSignature(`"${right}","\\u0073ignature":"${right}"`),
      'signature_duplicated',
    ],
    ['of another key', delivery(buyInitBody(), 'sk_merchant_test2sk_partner_test1'), 'signature_mismatch'],
    ['of the partner key alone', delivery(buyInitBody(), 'sk_partner_test1'), 'signature_mismatch'],
    ['of swapped keys', delivery(buyInitBody(), 'sk_partner_test1sk_merchant_test1'), 'signature_mismatch'],
    ['of another body', signedText(unsigned, hmacHex('{}')), 'signature_mismatch'],
  ])('401 when its signature is %s', async (_, body, code) => {
    const answer = await post(closedWebhooks(), { body });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([401, { error: code }]);
  });

  it.each(['utf-8', 'none', 'binary', 'aws-chunked', 'gzip', 'br', '7bit', 'gzip, identity', '*', ' '])(
    'by its bytes where they are JSON, though its content encoding says %s',
    async (encoding) => {
      const headers = { 'content-encoding': encoding };
      const { events, webhooks } = recordingWebhooks();
      expect(await post(webhooks, { body: valid, headers })).toMatchObject({ status: 200 });
      expect(events).toMatchObject([{ event_name: 'event.buy.init' }]);
      const answers = [unsigned, withSignature(`"${'0'.repeat(128)}"`), '[]', '{"a":1}'].map((body) =>
        post(closedWebhooks(), { body, headers }),
      );
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([401, 401, 400, 401]);
    },
  );

  it('503 and when to come again while the same event is under way, which then ends 200', async () => {
    const begun = gate();
    const finish = gate();
    const webhooks = quietWebhooks().on('event.buy.init', async () => {
      begun.open();
      await finish.opened;
    });
    const first = post(webhooks, { body: valid });
    await begun.opened;
    const second = await post(webhooks, { body: valid });
    expect(second).toMatchObject({ status: 503, body: '{"error":"busy"}' });
    expect(Number(second.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    finish.open();
    expect(await first).toMatchObject({ status: 200 });
    expect(await post(webhooks, { body: valid })).toMatchObject({ status: 200 });
  });
});
