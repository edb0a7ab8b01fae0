import * as z from 'zod';
import { Refusal } from '../wire/requests.ts';
import type { SandboxState } from '../world/state.ts';
import type { SandboxTrace } from '../world/trace.ts';
import type { Exchange, Extent } from './answers.ts';
import { type ControlEndpoint, endpoint } from './control-endpoint.ts';
import { examineSignature } from './examine-signature.ts';
import { explainExchange } from './exchange-verdict.ts';

const traceQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0),
  bodies: z.enum(['true', 'false']).default('true'),
  limit: z.coerce.number().int().min(1).optional(),
});

export function trafficEndpoints(state: SandboxState): readonly ControlEndpoint[] {
  const trace = state.trace.view;
  return [
    endpoint({
      method: 'GET',
      path: 'trace',
      summary: 'The traffic, the oldest entry first',
      query: traceQuery,
      handle: ({ query: { after, bodies, limit } }) => {
        const entries = trace.entries.filter(({ id }) => id > after).slice(0, limit);
        const listed =
          bodies === 'true'
            ? entries
            : entries.map((entry) => ({ ...entry, headers: undefined, body: undefined }));
        return { entries: listed, ...extentOf(trace) };
      },
    }),
    endpoint({
      method: 'GET',
      path: 'trace/{id}',
      summary: 'A request or event with its replies: how it ended and why, and the key that signed it',
      handle: ({ params: { id = '' } }): Exchange => {
        const entry = /^\d{1,15}$/.test(id)
          ? trace.entries.find((other) => other.id === Number(id))
          : undefined;
        if (entry === undefined)
          throw new Refusal(404, 'unknown_entry', 'The trace has no entry with this id.');
        const entries = trace.entries.filter(({ exchange }) => exchange === entry.exchange);
        return {
          entries,
          verdict: explainExchange(entries),
          signature: examineSignature(state, entries[0] ?? entry),
        };
      },
    }),
  ];
}

export function extentOf({ forgotten, entries }: SandboxTrace): Extent {
  return { lastId: forgotten + entries.length, forgotten };
}
