import { merchantsFor, signingKey } from '../../../credentials/signing-key.ts';
import { isLoopbackHost } from '../../../deployment/base-url.ts';
import { platformFetch } from '../../../deployment/platform-fetch.ts';
import { sleep } from '../../../internal/backoff.ts';
import { invalidOption } from '../../../internal/options.ts';
import { type PostAnswer, postRequest } from '../post-request.ts';
import type { Attack } from './attack-case.ts';
import { type AttackSettings, checkHttpUrl } from './attack-options.ts';
import { readEffects } from './effect-records.ts';
import { watchOrder } from './ledger.ts';
import { makeProbes, type ProbeRequest } from './probes.ts';

/**
 * Prepares an attack without sending anything.
 *
 * @throws {ConfigurationError} `invalid_option` for a URL that is malformed or not known to be the caller's
 */
export function prepareAttack(url: unknown, settings: AttackSettings) {
  const { credentials, deployment, signal, timeoutMs, handles, order } = settings;
  const target = checkHttpUrl('The URL of the receiver', url);
  checkOwnHost(target, settings.iOwnThisHost);
  const { signature: scheme, wireNames } = deployment;
  const merchant = merchantsFor(credentials, scheme)[0];
  const key = signingKey(credentials, 'order', { merchant, scheme });
  const callbackUrl = target.origin + target.pathname;
  // Without records nothing is gained by an event that moves money.
  const event = (settings.handled && handles[0]) ?? 'event.buy.init';
  const probes = makeProbes({ scheme, key, wireNames, callbackUrl, event, order, handles });
  // The service sends these (contract: Authentication 2).
  const authorization = `Bearer ${credentials.partnerPublicKey}`;
  const headers = { 'content-type': 'application/json', authorization };
  const pause = async (ms: number) => {
    await sleep(ms, signal);
    signal?.throwIfAborted();
  };
  const handled =
    settings.handled && readEffects(settings.handled, { pause, timeoutMs: settings.effectTimeoutMs });
  let last: PostAnswer | undefined;
  const post = async ({ body, headers: own, query }: ProbeRequest) => {
    const request = { url: urlOf(target, query), headers: { ...headers, ...own }, body };
    for (let attempt = 1; ; attempt++) {
      last = await postRequest(request, { fetch: settings.fetch ?? platformFetch, timeoutMs, signal });
      // A server may close an idle connection at the moment at which it is used.
      if (last.kind !== 'closed' || attempt === mostAttempts) return last;
    }
  };
  const attack: Attack = {
    credentials,
    probes,
    post,
    handled,
    watchOrder: watchOrder(order?.partner_order_id, { handled, handles }),
    handles,
    baseline: probes.authentic(),
    signal,
    pause,
  };
  return { attack, target, lastAnswer: () => last };
}

/** A receiver that closes each connection closes these, too. */
const mostAttempts = 3;

function urlOf(url: URL, query: string | undefined): string {
  const target = new URL(url);
  if (query !== undefined) target.search = url.search === '' ? query : `${url.search}&${query}`;
  return target.href;
}

/**
 * Refuses a host that is neither this machine nor named by its owner. Only its name counts: a name that resolves to
 * this machine today may change tomorrow.
 *
 * @throws {ConfigurationError} `invalid_option`
 */
function checkOwnHost(url: URL, iOwnThisHost: string | undefined): void {
  if (isLoopbackHost(url.hostname)) return;
  const named = iOwnThisHost?.toLowerCase();
  if (named === url.hostname || named === url.host) return;
  if (named !== undefined)
    throw invalidOption(`iOwnThisHost does not name the host of the URL, which is ${url.hostname}.`);
  throw invalidOption(
    `attackReceiver only attacks this machine, and ${url.hostname} is another one.`,
    `If it is yours, name it: iOwnThisHost: '${url.hostname}'.`,
  );
}
