import { useState } from 'preact/hooks';
import { post, type State } from './api.ts';
import { Card, Facts } from './detail.tsx';
import { Rate, RateForm } from './fault-rates.tsx';
import { ActionForm, Choice, Options } from './fields.tsx';
import { Changes, shownDate } from './labels.tsx';
import { attempt, useStore } from './store.ts';

export function ControlsView() {
  const { state } = useStore();
  if (state === undefined) return <p class="empty">The sandbox does not answer. Is it still running?</p>;
  return (
    <Changes>
      <div class="controls">
        <PlanCard known={state.known} />
        <ScenarioCard state={state} />
        <ClockCard clock={state.clock} />
        <AboutCard state={state} />
      </div>
    </Changes>
  );
}

function PlanCard({ known }: Pick<State, 'known'>) {
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
  const plan = () =>
    post('faults/next', {
      target,
      fault: {
        kind: chosen,
        ...(!isEvent && when !== '' && { when }),
        ...(hasMember && member !== '' && { member }),
        ...(forms.includes(form) && { form }),
      },
    });
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

function ScenarioCard({ state: { known, faults } }: { state: State }) {
  const [name, setName] = useState('hostile');
  const rates = Object.entries(faults.rates).flatMap(([target, each]) =>
    Object.entries(each).map(([fault, rate]) => ({ target, fault, rate: probabilityOf(rate) })),
  );
  return (
    <Card
      heading="h2"
      title="Faults"
      aside={
        <button type="button" onClick={() => attempt('Cleared the faults', () => post('faults/clear'))}>
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

type PlannedFault = Exclude<State['faults']['next'][number]['fault'], string>;

const hops = [
  { title: '+1 s', ms: 1000 },
  { title: '+1 min', ms: 60_000 },
  { title: '+1 h', ms: 3_600_000 },
  { title: '+1 day', ms: 86_400_000 },
] as const;

function ClockCard({ clock: { now, nextAt } }: Pick<State, 'clock'>) {
  return (
    <Card heading="h2" title="Clock" aside={<span class="muted">{shownDate(now)}</span>}>
      <div class="pad">
        <p class="muted">
          {nextAt === undefined ? 'Nothing waits for the time.' : `Next: something at ${shownDate(nextAt)}.`}
        </p>
        <div class="buttons">
          {hops.map(({ title, ms }) => (
            <button
              key={title}
              type="button"
              onClick={() => attempt(`Moved the clock ${title}`, () => post('clock/advance', { ms }))}
            >
              {title}
            </button>
          ))}
          <button type="button" onClick={() => attempt('Nothing waits any more', () => post('clock/drain'))}>
            Until nothing waits
          </button>
        </div>
      </div>
    </Card>
  );
}

function AboutCard({ state }: { state: State }) {
  const { deployment, seed, masterKey, whitelistedIps } = state;
  return (
    <Card heading="h2" title="This sandbox" aside={<ResetButtons />}>
      <Facts
        facts={[
          ['Seed', seed],
          ['Onboarding', deployment.onboardingBaseUrl],
          ['Staging', deployment.stagingUrl],
          ['Messenger', deployment.messengerBaseUrl],
          ['Master key', masterKey ?? 'yours'],
          ['Whitelisted', whitelistedIps.join(', ') || 'nobody'],
        ]}
      />
    </Card>
  );
}

function ResetButtons() {
  const [isAsked, setIsAsked] = useState(false);
  if (!isAsked)
    return (
      <button type="button" onClick={() => setIsAsked(true)}>
        Reset…
      </button>
    );
  return (
    <span class="buttons">
      <button
        type="button"
        class="danger"
        onClick={() => {
          setIsAsked(false);
          void attempt('Everything is forgotten', () => post('reset'));
        }}
      >
        Forget everything
      </button>
      <button type="button" onClick={() => setIsAsked(false)}>
        Keep it
      </button>
    </span>
  );
}

function probabilityOf(rate: number | { probability: number } | undefined): number {
  return typeof rate === 'object' ? rate.probability : (rate ?? 0);
}
