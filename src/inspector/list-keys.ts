/** The row that a key moves to; `undefined` for other keys. In a search field, Home and End move the caret. */
export function targetOfKey(
  event: KeyboardEvent,
  { index, count, page = 10 }: { index: number; count: number; page?: number },
): number | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey || count === 0) return undefined;
  const isTyping = event.target instanceof HTMLInputElement;
  const last = count - 1;
  const target = {
    ArrowDown: index + 1,
    ArrowUp: index === -1 ? 0 : index - 1,
    PageDown: index + page,
    PageUp: index - page,
    ...(!isTyping && { Home: 0, End: last }),
  }[event.key];
  return target === undefined ? undefined : Math.min(last, Math.max(0, target));
}
