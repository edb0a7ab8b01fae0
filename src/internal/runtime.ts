/** False on workerd: there requests cannot share work, since a cancelled one takes its timers with it. */
export function isWholeProcess(): boolean {
  return /^(?:Node\.js|Bun|Deno)\//.test(globalThis.navigator?.userAgent ?? '');
}
