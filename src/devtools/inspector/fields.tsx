import type { ComponentChildren } from 'preact';
import { attempt, navigate, useStore } from './store.ts';

export function Choice(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  children: ComponentChildren;
}) {
  return (
    <label>
      <span class="muted">{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.children}
      </select>
    </label>
  );
}

export function Options({ label, values }: { label: string; values: readonly string[] }) {
  return (
    <optgroup label={label}>
      {values.map((value) => (
        <option key={value} value={value}>
          {value.replaceAll('_', ' ')}
        </option>
      ))}
    </optgroup>
  );
}

interface ActionFormProps {
  readonly kind: string;
  /** The notice of success. */
  readonly done: string;
  readonly act: () => Promise<unknown>;
  readonly children: ComponentChildren;
}

export function ActionForm({ kind, done, act, children }: ActionFormProps) {
  return (
    <form
      class={kind}
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(done, act);
      }}
    >
      {children}
    </form>
  );
}

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly title?: string;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

/** The search of a list, which is in the address. */
export function SearchField(props: SearchFieldProps) {
  const { address } = useStore();
  return (
    <input
      type="search"
      placeholder={`${props.placeholder}  ( / )`}
      title={props.title}
      aria-label={props.label}
      value={address.search}
      onInput={(event) => navigate({ search: event.currentTarget.value }, 'replace')}
      onKeyDown={props.onKeyDown}
    />
  );
}
