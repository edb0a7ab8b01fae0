import { retryDelay } from './callbacks/retry-policy.ts';
import type { SandboxState } from './sandbox-state.ts';
import { secretDigest } from './secrets.ts';

/**
 * Forgets everything: the sandbox is as if it had just been made, and draws the same again. The time stays, entries of
 * the trace go on counting, and the master key is the same.
 */
export async function resetState(state: SandboxState): Promise<void> {
  const { data, deliveryQueue, faults, messenger, options, orders, partners, trace, whitelist } = state;
  deliveryQueue.clear();
  deliveryQueue.retryDelay = retryDelay(options.callbackRetry);
  for (const registry of [orders, partners, messenger]) registry.clear();
  for (const ip of whitelist) data.delete(`ip/${secretDigest(ip)}`);
  whitelist.clear();
  faults.reset();
  state.restartRun();
  for (const partner of options.partners) partners.fix(partner);
  trace.view.clear();
  await data.commit();
}
