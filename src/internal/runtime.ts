/**
 * Whether work of several requests may be shared. On workerd it may not: it drops what a cancelled request has begun,
 * with its timers, and whoever waits for that waits for ever.
 */
export function isWholeProcess(): boolean {
  return /^(?:Node\.js|Bun|Deno)\//.test(globalThis.navigator?.userAgent ?? '');
}
