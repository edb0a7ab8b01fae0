import { useState } from 'preact/hooks';
import { get, post, type State } from './api.ts';
import { Card } from './detail.tsx';
import { ActionForm, Choice, Options } from './fields.tsx';
import { attempt } from './store.ts';

type Faults = State['faults'];

/** Reads the faults anew: a planned one may have happened since the page was drawn. */
async function changeFaults(change: (faults: Faults) => Partial<Faults>): Promise<Faults> {
  return post('faults', change(await get<Faults>('faults')));
}

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
    // Sound: the choices are the names that the sandbox knows.
    const planned = { target, fault } as Faults['next'][number];
    return changeFaults(({ next, rates }) => ({ next: [...next, planned], rates }));
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

export function ScenarioCard({ state: { known, faults } }: { state: State }) {
  const [name, setName] = useState('hostile');
  const rates = Object.entries(faults.rates).flatMap(([target, each]) =>
    Object.entries(each).map(([fault, rate]) => ({ target, fault, rate: probabilityOf(rate) })),
  );
  return (
    <Card
      heading="h2"
      title="Faults"
      aside={
        <button type="button" onClick={() => attempt('Cleared the faults', () => changeFaults(() => ({})))}>
          Clear all
        </button>
      }
    >
      <ActionForm
        kind="pad fields"
        done={`Set the scenario ${name}`}
        act={() => post('faults/scenario', { name })}
      >
        <Choice label="Scenario" value={name} onChange={setName}>
          <Options label="Scenarios" values={known.faultScenarios} />
        </Choice>
        <button type="submit">Set it</button>
      </ActionForm>
      <RateForm known={known} />
      {faults.next.length + rates.length === 0 && (
        <p class="muted pad">Nothing: every reply and event arrives.</p>
      )}
      <ul class="deliveries">
        {faults.next.map(({ target, fault }, index) => (
          <li key={index}>
            <span class="what">
              <b>next {target}</b>
            </span>
            <span class="pill fault">{typeof fault === 'string' ? fault : describeFault(fault)}</span>
          </li>
        ))}
        {rates.map((each) => (
          <Rate key={`${each.target} ${each.fault}`} {...each} />
        ))}
      </ul>
    </Card>
  );
}

function describeFault({ kind, when, form, member }: PlannedFault): string {
  return [kind, when, form, member].filter((part) => part !== undefined).join(' ');
}

type PlannedFault = Exclude<Faults['next'][number]['fault'], string>;

function RateForm({ known }: Pick<State, 'known'>) {
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
  const set = () =>
    changeRates(target || everywhere, (rates) => ({ ...rates, [chosen]: Number(percent) / 100 }));
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

function Rate({ target, fault, rate }: { target: string; fault: string; rate: number }) {
  const shown = fault.replaceAll('_', ' ');
  const place = target === everywhere ? '' : target;
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
            changeRates(target, (rates) =>
              Object.fromEntries(Object.entries(rates).filter(([name]) => name !== fault)),
            ),
          )
        }
      >
        Remove
      </button>
    </li>
  );
}

const everywhere = 'all';

type Rates = Faults['rates'][string];

function changeRates(target: string, change: (rates: Rates) => Rates): Promise<Faults> {
  return changeFaults(({ next, rates }) => ({
    next,
    rates: { ...rates, [target]: change(rates[target] ?? {}) },
  }));
}

const shownPercent = (rate: number) => Number((rate * 100).toPrecision(3));

function probabilityOf(rate: number | { probability: number } | undefined): number {
  return typeof rate === 'object' ? rate.probability : (rate ?? 0);
}
