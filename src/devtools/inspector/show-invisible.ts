import { type ComponentChildren, options, type VNode } from 'preact';
import { escapeInvisible } from '../../internal/printable-text.ts';

/** Shows invisible characters of every text on the page as escapes: marks that reorder text would change what is read. */
export function showInvisible(): void {
  const { vnode: before } = options;
  options.vnode = (vnode: VNode<{ title?: ComponentChildren }>) => {
    if (typeof vnode.type === 'string') {
      const { props } = vnode;
      if (props.children !== undefined) props.children = escaped(props.children);
      if (props.title !== undefined) props.title = escaped(props.title);
    }
    before?.(vnode);
  };
}

function escaped(child: ComponentChildren): ComponentChildren {
  if (typeof child === 'string') return escapeInvisible(child);
  return Array.isArray(child) ? child.map(escaped) : child;
}
