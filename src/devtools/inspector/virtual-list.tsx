import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { store } from './store.ts';
import type { Row } from './traffic-rows.ts';

interface VirtualListProps {
  readonly label: string;
  readonly items: readonly Row[];
  readonly rowHeight: number;
  readonly selected: number | undefined;
  /** Takes the handler of keys, for the search field above the list. */
  readonly keys: { current: ((event: KeyboardEvent) => void) | undefined };
  /** `replace` for keys, which move through many rows. */
  readonly onSelect: (id: number, mode: 'push' | 'replace') => void;
  readonly children: (row: Row) => ComponentChildren;
}

/** Rows beyond the visible ones, above and below, so that scrolling shows no gaps. */
const spare = 8;

/** A list box with only its visible rows in the document: with all 10,000, a frame of scrolling took ten times as long. */
export function VirtualList(props: VirtualListProps) {
  const { label, items, rowHeight, selected, keys, onSelect, children } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);

  // The newest row that was visible at the top.
  const newest = useRef(0);
  useEffect(() => {
    if (view.top === 0) newest.current = Math.max(newest.current, items[0]?.id ?? 0);
  }, [items, view.top]);
  const unseen = view.top === 0 ? 0 : items.findIndex(({ id }) => id <= newest.current);

  // New rows come in at the top. The rows in view must not move.
  const first = useRef<{ id: number | undefined; count: number }>({ id: undefined, count: 0 });
  useLayoutEffect(() => {
    const { id, count } = first.current;
    const element = box.current;
    const added = items.length - count;
    if (element !== null && added > 0 && element.scrollTop > 0 && items[added]?.id === id) {
      element.scrollTop += added * rowHeight;
    }
    first.current = { id: items[0]?.id, count: items.length };
  }, [items, rowHeight]);

  function show(index: number): void {
    const item = items[index];
    const element = box.current;
    if (item === undefined || element === null) return;
    onSelect(item.id, store.address.open === '' ? 'push' : 'replace');
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight;
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    // The store is up to date: several keys may come before the next frame.
    const index = items.findIndex(({ id }) => id === Number(store.address.open));
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const target = targetOfKey(event, { index, count: items.length, page });
    if (target === undefined) return;
    event.preventDefault();
    show(target);
  }
  keys.current = onKeyDown;

  const from = Math.max(0, Math.floor(view.top / rowHeight) - spare);
  const to = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + spare);
  const shown = items.slice(from, to);
  return (
    <>
      {unseen > 0 && (
        <button type="button" class="unseen-rows" onClick={() => box.current?.scrollTo({ top: 0 })}>
          ↑ {unseen} new
        </button>
      )}
      <div
        ref={box}
        class="list"
        role="listbox"
        tabIndex={0}
        aria-label={label}
        aria-activedescendant={shown.some(({ id }) => id === selected) ? `row-${selected}` : undefined}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" class="list-space" style={{ height: `${items.length * rowHeight}px` }}>
          {shown.map((item, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list box has the keys.
            // biome-ignore lint/a11y/useFocusableInteractive: the list box has the focus.
            <div
              key={item.id}
              id={`row-${item.id}`}
              role="option"
              class="row"
              aria-selected={item.id === selected}
              aria-setsize={items.length}
              aria-posinset={from + index + 1}
              style={{ top: `${(from + index) * rowHeight}px`, height: `${rowHeight}px` }}
              onClick={() => onSelect(item.id, 'push')}
            >
              {children(item)}
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

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
