import { type ComponentChildren, options, type VNode } from 'preact';
import { escapeInvisible } from '../../internal/printable-text.ts';

/** Their text is what is sent. */
const exact: ReadonlySet<unknown> = new Set(['option', 'textarea']);

/** Shows invisible characters of every text on the page as escapes: marks that reorder text would change what is read. */
export function showInvisible(): void {
  const { vnode: before } = options;
  options.vnode = (vnode: VNode<{ title?: ComponentChildren }>) => {
    if (typeof vnode.type === 'string' && !exact.has(vnode.type)) {
      const { props } = vnode;
      if (props.children !== undefined) props.children = shown(props.children);
      if (props.title !== undefined) props.title = shown(props.title);
    }
    before?.(vnode);
  };
}

function shown(child: ComponentChildren): ComponentChildren {
  if (typeof child === 'string') return escapeInvisible(child);
  return Array.isArray(child) ? child.map(shown) : child;
}
