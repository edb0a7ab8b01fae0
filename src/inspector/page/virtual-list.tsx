import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface VirtualListProps<Item extends { readonly id: number }> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly rowHeight: number;
  readonly selected: number | undefined;
  readonly onSelect: (id: number) => void;
  readonly children: (item: Item) => ComponentChildren;
}

/** Rows beyond the visible ones, above and below, so that scrolling shows no gaps. */
const spare = 8;

/** A list box that only has the visible rows in the document, however many there are. */
export function VirtualList<Item extends { readonly id: number }>(props: VirtualListProps<Item>) {
  const { label, items, rowHeight, selected, onSelect, children } = props;
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

  // New rows come in at the top: what somebody has scrolled to must not move.
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
    onSelect(item.id);
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight;
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    const index = items.findIndex(({ id }) => id === selected);
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const last = items.length - 1;
    const target = {
      ArrowDown: index + 1,
      ArrowUp: index === -1 ? 0 : index - 1,
      PageDown: index + page,
      PageUp: index - page,
      Home: 0,
      End: last,
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    show(Math.min(last, Math.max(0, target)));
  }

  const from = Math.max(0, Math.floor(view.top / rowHeight) - spare);
  const to = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + spare);
  const shown = items.slice(from, to);
  return (
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
            onClick={() => onSelect(item.id)}
          >
            {children(item)}
          </div>
        ))}
      </div>
    </div>
  );
}
