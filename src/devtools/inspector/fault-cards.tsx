import { useState } from 'preact/hooks';
import { post, remove, type State } from './api.ts';
import { Card } from './detail.tsx';
import { ActionForm, Choice, Options } from './fields.tsx';
import { attempt } from './store.ts';

type Faults = State['faults'];

export function PlanCard({ known }: Pick<State, 'known'>) {
  const [target, setTarget] = useState('createOrder');
  const [fault, setFault] = useState('reply_lost');
  const [when, setWhen] = useState('');
  const [member, setMember] = useState('');
  const [form, setForm] = useState('');
  const isEvent = known.eventTargets.includes(target);
  const faults = isEvent ? known.eventFaults : known.requestFaults;
  const chosen = faults.includes(fault) ? fault : (faults[0] ?? '');
  const forms = known.faultForms[chosen] ?? [];
  const hasMember = known.memberFaults.includes(chosen);
  const plan = () => {
    const fault = {
      kind: chosen,
      ...(!isEvent && when !== '' && { when }),
      ...(hasMember && member !== '' && { member }),
      ...(forms.includes(form) && { form }),
    };
    return post('faults', { target, fault });
  };
  return (
    <Card heading="h2" title="Plan a fault">
      <ActionForm kind="pad fields" done={`Planned ${chosen} for ${target}`} act={plan}>
        <Choice label="Happens to the next" value={target} onChange={setTarget}>
          <Options label="Requests" values={known.requestTargets} />
          <Options label="Events" values={known.eventTargets} />
        </Choice>
        <Choice label="Fault" value={chosen} onChange={setFault}>
          <Options label={isEvent ? 'Of events' : 'Of requests'} values={faults} />
        </Choice>
        {!isEvent && (
          <Choice label="When" value={when} onChange={setWhen}>
            <option value="">as usual</option>
            <option value="before">before the effect</option>
            <option value="after">after the effect</option>
          </Choice>
        )}
        {forms.length > 0 && (
          <Choice label="Form" value={forms.includes(form) ? form : ''} onChange={setForm}>
            <option value="">as usual</option>
            <Options label="Forms" values={forms} />
          </Choice>
        )}
        {hasMember && (
          <label>
            <span class="muted">Member</span>
            <input
              placeholder="any, such as payer_into_account.bank_name"
              value={member}
              onInput={(event) => setMember(event.currentTarget.value)}
            />
          </label>
        )}
        <button type="submit">Plan it</button>
      </ActionForm>
    </Card>
  );
}

export function FaultsCard({ state: { known, faults } }: { state: State }) {
  return (
    <Card
      heading="h2"
      title="Faults"
      aside={
        <button type="button" onClick={() => attempt('Cleared the faults', () => remove('faults'))}>
          Clear all
        </button>
      }
    >
      <RateForm known={known} />
      {faults.length === 0 && <p class="muted pad">Nothing: every reply and event arrives.</p>}
      <ul class="deliveries">
        {faults.map(({ target, fault, rate }, index) => (
          <li key={index}>
            <span class="what">
              <b>{rate === undefined ? `next ${target}` : `${shownPercent(rate)} % of ${target}`}</b>
            </span>
            <span class="pill fault">{typeof fault === 'string' ? fault : describeFault(fault)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function describeFault({ kind, when, form, member }: Exclude<Faults[number]['fault'], string>): string {
  return [kind, when, form, member].filter((part) => part !== undefined).join(' ');
}

function RateForm({ known }: Pick<State, 'known'>) {
  const [target, setTarget] = useState('event');
  const [fault, setFault] = useState('duplicate');
  const [percent, setPercent] = useState('20');
  const isEvent = known.eventTargets.includes(target);
  const faults = isEvent ? known.eventFaults : known.requestFaults;
  const chosen = faults.includes(fault) ? fault : (faults[0] ?? '');
  const shown = chosen.replaceAll('_', ' ');
  const set = () => post('faults', { target, fault: chosen, rate: Number(percent) / 100 });
  return (
    <ActionForm kind="pad fields" done={`Set the rate of ${shown} to ${percent} %`} act={set}>
      <Choice label="Fault of the rate" value={chosen} onChange={setFault}>
        <Options label="Faults" values={faults} />
      </Choice>
      <Choice label="At" value={target} onChange={setTarget}>
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

const shownPercent = (rate: number) => Number((rate * 100).toPrecision(3));
