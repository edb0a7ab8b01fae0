import type { ComponentChildren } from 'preact';

/** A labelled select. */
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

/** A group of names as the options of a select. */
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
