import { describe, expect, it } from 'vitest';
import { memoryInbox } from '../../src/inbox/memory-inbox.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { thrownBy } from '../support/refusal.ts';
import { credentials, quietWebhooks } from './deliveries.ts';

describe('createWebhooks refuses', () => {
  it.each([
    ['timeLimit', 'timeLimitMs'],
    ['timelimitms', 'timeLimitMs'],
    ['maxBodyByte', 'maxBodyBytes'],
    ['credential', 'credentials'],
    ['onRefuse', 'onRefused'],
    ['bodyTimeout', 'bodyTimeoutMs'],
  ])('an option that it does not have, and names the nearest: %s: %s', (name, nearest) => {
    const options: object = { credentials, [name]: 5 };
    const error = thrownBy(() => createWebhooks(options));
    expect(error).toMatchObject({
      code: 'invalid_option',
      message: `"${name}" is not an option of createWebhooks. Did you mean "${nearest}"? See partner-exchange-sdk/docs/errors.md#invalid_option.`,
    });
  });

  it('a misspelt option of the deployment: with a misspelt scheme everything would be refused', () => {
    const deployment: object = { signatur: { ...defaultScheme, encoding: 'base64' } };
    const error = thrownBy(() => createWebhooks({ credentials, deployment: Object(deployment) }));
    expect(String(error)).toContain('"signatur" is not an option of deployment. Did you mean "signature"?');
  });

  it('a misspelt wire name', () => {
    const deployment = { signature: defaultScheme, wireNames: { platform_order_reff: 'acme_order_ref' } };
    const error = thrownBy(() => createWebhooks({ credentials, deployment: Object(deployment) }));
    expect(String(error)).toContain('platform_order_reff');
  });

  it.each([undefined, null, {}, 'credentials', 5])('%s in place of options', (options) => {
    const error = thrownBy(() => createWebhooks(options as unknown as WebhooksOptions));
    expect(error).toMatchObject({ code: 'invalid_option' });
  });
});

it('timeLimitMs is refused beside an inbox, where it would do nothing', () => {
  expect(thrownBy(() => quietWebhooks({ inbox: memoryInbox(), timeLimitMs: 1_000 }))).toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('timeLimitMs has no effect beside an inbox'),
  });
});
