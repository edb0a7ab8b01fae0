/**
 * False on workerd, where requests cannot share work: a cancelled one takes its timers with it, and others would wait
 * for ever.
 */
export function isWholeProcess(): boolean {
  return /^(?:Node\.js|Bun|Deno)\//.test(globalThis.navigator?.userAgent ?? '');
}
