/** `partner-exchange-sdk/webhooks`, which also writes down how a program makes its receiver. */
import {
  createWebhooks as create,
  type Webhooks,
  type WebhooksOptions,
} from '../../../src/webhooks/index.ts';
import { makeReceiver } from './make-receiver.ts';
import { type Recipe, registry } from './registry.ts';

export * from '../../../src/webhooks/index.ts';

const program = decodeURIComponent(new URL(import.meta.url).searchParams.get('program') ?? '');
registry.makeReceiver = makeReceiver;

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const recipe: Recipe = { program, options, handlers: [] };
  registry.recipes.push(recipe);
  const webhooks = create(options);
  const { on, onAny, onUnrecognized } = webhooks;
  return Object.assign(webhooks, {
    on: (...given: Parameters<typeof on>) => {
      recipe.handlers.push({ method: 'on', given });
      return on(...given);
    },
    onAny: (...given: Parameters<typeof onAny>) => {
      recipe.handlers.push({ method: 'onAny', given });
      return onAny(...given);
    },
    onUnrecognized: (...given: Parameters<typeof onUnrecognized>) => {
      recipe.handlers.push({ method: 'onUnrecognized', given });
      return onUnrecognized(...given);
    },
  });
}
