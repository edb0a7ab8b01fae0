import { describe, expect, it } from 'vitest';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { thrownBy } from '../support/refusal.ts';
import { credentials } from './deliveries.ts';

describe('createWebhooks refuses', () => {
  it('an option that it does not have, and names the nearest', () => {
    const options: object = { credentials, maxBodyByte: 5 };
    expect(thrownBy(() => createWebhooks(Object(options)))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^"maxBodyByte" is not an option.* Did you mean "maxBodyBytes"\?/),
    });
  });

  it('a misspelt option of the deployment: with a misspelt scheme everything would be refused', () => {
    const deployment: object = { signatur: { ...defaultScheme, encoding: 'base64' } };
    const error = thrownBy(() => createWebhooks({ credentials, deployment: Object(deployment) }));
    expect(String(error)).toContain('"signatur" is not an option of deployment. Did you mean "signature"?');
  });

  it.each([undefined, null, {}, 'credentials', 5])('%o in place of options', (options) => {
    const error = thrownBy(() => createWebhooks(options as unknown as WebhooksOptions));
    expect(error).toMatchObject({ code: expect.stringMatching(/^invalid_(option|credentials)$/) });
  });
});
