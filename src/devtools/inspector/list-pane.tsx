import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { navigate, store, useStore } from './store.ts';

interface ListPaneProps<Item> {
  /** The name of the list, and of its search. */
  readonly label: string;
  readonly placeholder: string;
  /** Controls beside the search. */
  readonly tools?: ComponentChildren;
  readonly count: string;
  readonly intro?: ComponentChildren;
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  readonly isOpen: (item: Item) => boolean;
  readonly line: (item: Item) => JSX.Element;
  /** Takes the place of an empty list. */
  readonly empty: ComponentChildren;
}

/** A list box with its search. Keys move through the rows, from the search as well. */
export function ListPane<Item>(props: ListPaneProps<Item>) {
  const { label, placeholder, tools, count, intro, items, idOf, isOpen, line, empty } = props;
  const { address } = useStore();
  const selected = items.find(isOpen);

  function onKeyDown(event: KeyboardEvent): void {
    // The store is up to date: several keys may come before the next frame.
    const target = targetOfKey(event, { index: items.findIndex(isOpen), count: items.length });
    const item = target === undefined ? undefined : items[target];
    if (item === undefined) return;
    event.preventDefault();
    navigate({ open: idOf(item) }, store.address.open === '' ? 'push' : 'replace');
    document.getElementById(`row-${idOf(item)}`)?.scrollIntoView({ block: 'nearest' });
  }

  return (
    <section class="pane" aria-label={label} onKeyDown={onKeyDown}>
      <div class="bar">
        <input
          type="search"
          placeholder={`${placeholder}  ( / )`}
          aria-label={`Search: ${label}`}
          value={address.search}
          onInput={(event) => navigate({ search: event.currentTarget.value }, 'replace')}
        />
        {tools}
        <output class="muted">{count}</output>
      </div>
      {intro}
      {items.length === 0 ? (
        <p class="empty">{empty}</p>
      ) : (
        <div
          class="list"
          role="listbox"
          tabIndex={0}
          aria-label={`${label}, the newest first`}
          aria-activedescendant={selected && `row-${idOf(selected)}`}
        >
          {items.map((item) => (
            <Line key={idOf(item)} item={item} id={idOf(item)} isSelected={item === selected} line={line} />
          ))}
        </div>
      )}
    </section>
  );
}

interface LineProps<Item> extends Pick<ListPaneProps<Item>, 'line'> {
  readonly item: Item;
  readonly id: string;
  readonly isSelected: boolean;
}

/** A row of the list. One that did not change is not drawn again. */
function Line<Item>({ item, id, isSelected, line }: LineProps<Item>) {
  return useMemo(
    () => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the list box has the keys.
      // biome-ignore lint/a11y/useFocusableInteractive: the list box has the focus.
      <div
        id={`row-${id}`}
        role="option"
        class="row"
        aria-selected={isSelected}
        onClick={() => navigate({ open: id })}
      >
        {line(item)}
      </div>
    ),
    [item, isSelected],
  );
}

/** Whether a text has every word of a search, in any case. */
export function isFound(search: string, text: string): boolean {
  const lower = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

/** The rows that a page of the keys moves. */
const pageRows = 10;

/** The row that a key moves to; `undefined` for other keys. In a search field, Home and End move the caret. */
function targetOfKey(event: KeyboardEvent, { index, count }: { index: number; count: number }) {
  if (event.ctrlKey || event.metaKey || event.altKey || count === 0) return undefined;
  if (!(event.target instanceof Element) || !event.target.matches('[type=search], [role=listbox]'))
    return undefined;
  const isTyping = event.target instanceof HTMLInputElement;
  const target = {
    ArrowDown: index + 1,
    ArrowUp: index === -1 ? 0 : index - 1,
    PageDown: index + pageRows,
    PageUp: index - pageRows,
    ...(!isTyping && { Home: 0, End: count - 1 }),
  }[event.key];
  return target === undefined ? undefined : Math.min(count - 1, Math.max(0, target));
}
