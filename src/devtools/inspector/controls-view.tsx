import { useState } from 'preact/hooks';
import { post, type State } from './api.ts';
import { Card, Facts } from './detail.tsx';
import { FaultsCard, PlanCard } from './fault-cards.tsx';
import { Changes, shownDate } from './labels.tsx';
import { attempt, useStore } from './store.ts';

export function ControlsView() {
  const { state } = useStore();
  if (state === undefined) return <p class="empty">The sandbox does not answer. Is it still running?</p>;
  return (
    <Changes>
      <div class="controls">
        <PlanCard known={state.known} />
        <FaultsCard state={state} />
        <ClockCard clock={state.clock} />
        <AboutCard state={state} />
      </div>
    </Changes>
  );
}

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
