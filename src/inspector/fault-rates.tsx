import { useState } from 'preact/hooks';
import { post, type State } from './api.ts';
import { ActionForm, Choice, Options } from './fields.tsx';
import { attempt } from './store.ts';

export function RateForm({ known }: Pick<State, 'known'>) {
  const [target, setTarget] = useState('');
  const [fault, setFault] = useState('duplicate');
  const [percent, setPercent] = useState('20');
  const isEvent = known.eventTargets.includes(target);
  const faults = [
    ...(target === '' || !isEvent ? known.requestFaults : []),
    ...(target === '' || isEvent ? known.eventFaults : []),
  ];
  const chosen = faults.includes(fault) ? fault : (faults[0] ?? '');
  const shown = chosen.replaceAll('_', ' ');
  const set = () => post('faults/rate', { ...targetOf(target), fault: chosen, rate: Number(percent) / 100 });
  return (
    <ActionForm kind="pad fields" done={`Set the rate of ${shown} to ${percent} %`} act={set}>
      <Choice label="Fault of the rate" value={chosen} onChange={setFault}>
        <Options label="Faults" values={faults} />
      </Choice>
      <Choice label="At" value={target} onChange={setTarget}>
        <option value="">every request and event</option>
        <Options label="Requests" values={known.requestTargets} />
        <Options label="Events" values={known.eventTargets} />
      </Choice>
      <label>
        <span class="muted">Per cent</span>
        <input
          type="number"
          required
          min="0"
          max="100"
          step="any"
          value={percent}
          onInput={(event) => setPercent(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Set the rate</button>
    </ActionForm>
  );
}

export function Rate({ target, fault, rate }: { target: string; fault: string; rate: number }) {
  const shown = fault.replaceAll('_', ' ');
  const place = target === 'all' ? '' : target;
  return (
    <li>
      <span class="what">
        {shown} <span class="muted">{place}</span>
      </span>
      <span class="pill fault">{shownPercent(rate)} %</span>
      <button
        type="button"
        class="quiet"
        aria-label={`Remove the rate of ${shown} ${place}`.trim()}
        onClick={() =>
          attempt(`Removed the rate of ${shown}`, () =>
            post('faults/rate/remove', { ...targetOf(place), fault }),
          )
        }
      >
        Remove
      </button>
    </li>
  );
}

const targetOf = (target: string) => (target === '' ? {} : { target });
const shownPercent = (rate: number) => Number((rate * 100).toPrecision(3));
