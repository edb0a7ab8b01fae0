import type { ComponentChildren } from 'preact';
import { navigate } from './store.ts';

interface DetailProps {
  readonly label: string;
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The pane beside a list, with the selected item. */
export function Detail({ label, title, children }: DetailProps) {
  return (
    <article class="detail" aria-label={label}>
      <div class="detail-head">
        <h2>{title}</h2>
        <button type="button" class="quiet icon" aria-label="Close" onClick={() => navigate({ open: '' })}>
          ×
        </button>
      </div>
      {children}
    </article>
  );
}

interface CardProps {
  readonly title: ComponentChildren;
  readonly label?: string;
  readonly heading?: 'h2' | 'h3';
  readonly kind?: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Card({ title, label, heading: Heading = 'h3', kind = '', aside, children }: CardProps) {
  return (
    <section class={`card ${kind}`} aria-label={label}>
      <div class="card-head">
        <Heading>{title}</Heading>
        {aside}
      </div>
      {children}
    </section>
  );
}

export function Facts({ facts }: { facts: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl class="values">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
