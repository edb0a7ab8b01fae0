import { useState } from 'preact/hooks';
import type { State } from '../sandbox/control/answers.ts';
import { call } from './api.ts';
import { ActionButton, ActionForm, Card, Changes, Choice, dateText, Facts } from './elements.tsx';
import { VariablesCard } from './start-card.tsx';
import { attempt, useStore } from './store.ts';

export function ControlsView() {
  const { state } = useStore();
  if (state === undefined) return <p class="empty">The sandbox does not answer. Is it still running?</p>;
  return (
    <Changes>
      <div class="controls">
        <FaultsCard {...state} />
        <ClockCard {...state.clock} />
        <AboutCard {...state} />
        <VariablesCard variables={state.variables} />
      </div>
    </Changes>
  );
}

function FaultsCard({ known, faults }: State) {
  const [target, setTarget] = useState('createOrder');
  const [fault, setFault] = useState('reply_lost');
  const [percent, setPercent] = useState('');
  const isEvent = known.eventTargets.includes(target);
  const names = isEvent ? known.eventFaults : known.requestFaults;
  const chosen = names.includes(fault) ? fault : (names[0] ?? '');
  const rate = percent === '' ? undefined : Number(percent) / 100;
  return (
    <Card
      heading="h2"
      title="Faults"
      aside={
        <ActionButton done="Cleared the faults" act={() => call('DELETE', 'faults')}>
          Clear all
        </ActionButton>
      }
    >
      <div class="pad">
        <ActionForm
          done={`Planned ${chosen} for ${target}`}
          act={() => call('POST', 'faults', { target, fault: chosen, rate })}
        >
          <Choice
            label="Happens to"
            value={target}
            groups={{ Requests: known.requestTargets, Events: known.eventTargets }}
            onChange={setTarget}
          />
          <Choice
            label="Fault"
            value={chosen}
            groups={{ [isEvent ? 'Faults of events' : 'Faults of requests']: names }}
            onChange={setFault}
          />
          <label>
            <span class="muted">How often, in per cent</span>
            <input
              type="number"
              min="0"
              max="100"
              step="any"
              placeholder="only the next one"
              value={percent}
              onInput={(event) => setPercent(event.currentTarget.value)}
            />
          </label>
          <button type="submit">Plan it</button>
        </ActionForm>
      </div>
      {faults.length === 0 && <p class="muted pad">No faults: every reply and event arrives.</p>}
      <ul class="deliveries">
        {faults.map((planned, index) => (
          <li key={index}>
            <span class="what">
              {planned.rate === undefined ? 'The next ' : 'Each '}
              <b>{planned.target}</b>
            </span>
            <span class="pill fault">{faultText(planned.fault)}</span>
            {planned.rate !== undefined && (
              <span class="muted">{Number((planned.rate * 100).toPrecision(3))} %</span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** A fault with its details in words. */
function faultText(fault: State['faults'][number]['fault']): string {
  const words = typeof fault === 'string' ? [fault] : Object.values(fault);
  return words.join(' ').replaceAll('_', ' ');
}

const hops = [
  { title: '+1 s', ms: 1000 },
  { title: '+1 min', ms: 60_000 },
  { title: '+1 h', ms: 3_600_000 },
  { title: '+1 day', ms: 86_400_000 },
] as const;

function ClockCard({ now, nextAt }: State['clock']) {
  return (
    <Card heading="h2" title="Clock" aside={<span class="muted">{dateText(now)}</span>}>
      <div class="pad">
        <p class="muted">
          {nextAt === undefined
            ? 'No work waits for a time.'
            : `The next work is due at ${dateText(nextAt)}.`}
        </p>
        <div class="buttons">
          {hops.map(({ title, ms }) => (
            <ActionButton
              key={title}
              done={`Moved the clock ${title}`}
              act={() => call('POST', 'clock', { advanceMs: ms })}
            >
              {title}
            </ActionButton>
          ))}
          <ActionButton done="No work waits any more" act={() => call('POST', 'clock', { drain: true })}>
            Until no work waits
          </ActionButton>
        </div>
      </div>
    </Card>
  );
}

function AboutCard({ seed, whitelistedIps }: State) {
  return (
    <Card
      heading="h2"
      title="This sandbox"
      aside={
        <button type="button" onClick={reset}>
          Reset…
        </button>
      }
    >
      <Facts
        facts={[
          ['Seed', seed],
          ['Whitelisted IPs', whitelistedIps.join(', ') || 'none'],
        ]}
      />
    </Card>
  );
}

function reset(): void {
  if (confirm('Forget every order, event, message and partner? The same keys are drawn again.'))
    void attempt('Everything is forgotten', () => call('POST', 'reset'));
}
