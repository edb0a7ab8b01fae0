import { useState } from 'preact/hooks';
import type { CreateOrderAnswer, State } from '../sandbox/control/answers.ts';
import { call } from './api.ts';
import { ActionForm, Card, Changes, CopyButton, describePost } from './elements.tsx';
import { openExchange } from './store.ts';

/** What to do first: the variables of this sandbox, and an order. */
export function StartCard({ state }: { state: State }) {
  return (
    <div class="start">
      <h2>Start here</h2>
      <p>
        This is the service, simulated: its keys open nothing else. Every request and event is listed on this
        page.
      </p>
      <VariablesCard variables={state.variables} />
      {state.variables.PARTNER_PUBLIC_KEY === undefined ? (
        <NoPartner state={state} />
      ) : (
        <Card title="Create an order">
          <CreateOrder />
        </Card>
      )}
    </div>
  );
}

export function VariablesCard({ variables }: Pick<State, 'variables'>) {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return (
    <Card
      title="Variables for your program"
      aside={<CopyButton title="Copy" text={`${lines.join('\n')}\n`} />}
    >
      <pre class="variables">{lines.join('\n')}</pre>
    </Card>
  );
}

/** Creates an order as the client of the first partner does, and opens its request. */
export function CreateOrder() {
  const [url, setUrl] = useState('http://127.0.0.1:3000/orders');
  const create = async () => {
    const created = await call<CreateOrderAnswer>('POST', 'orders', { partner_callback_url: url });
    if (created.exchange !== undefined) openExchange(created.exchange);
    return describePost(created);
  };
  return (
    <Changes>
      <div class="pad">
        <ActionForm done="Created an order" act={create}>
          <label class="long">
            <span class="muted">Address of your receiver, which gets its events</span>
            <input
              type="url"
              required
              spellcheck={false}
              value={url}
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
          </label>
          <button type="submit">Create an order</button>
        </ActionForm>
      </div>
    </Changes>
  );
}

function NoPartner({ state: { deployment } }: { state: State }) {
  const command = `curl -sS -H 'content-type: application/json' \\
  -d '{"partner_code":"acme","email":"dev@acme.example"}' \\
  ${deployment.onboardingBaseUrl}${deployment.paths.onboard}`;
  return (
    <Card title="There is no partner yet" aside={<CopyButton title="Copy" text={command} />}>
      <p class="pad">Onboard one, and open the link in its mail (Outbox). Its keys are then listed here.</p>
      <pre>{command}</pre>
    </Card>
  );
}
