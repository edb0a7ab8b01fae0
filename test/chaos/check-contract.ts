import type { EventFaultName } from '../../src/devtools/sandbox/settings/event-faults.ts';
import type { TraceEntry } from '../../src/devtools/sandbox/world/trace.ts';
import { orderEventNames } from '../../src/events/event-names.ts';
import { ContractCheck } from '../contract/contract-check.ts';
import { deviates } from './plan.ts';
import type { World } from './world.ts';

const contract = new ContractCheck();

/** Compares every request and every authentic event with the schemas in `contract/`. */
export function checkContract({ sandbox, books, plan }: World): void {
  // Under other names nothing is as published.
  if ('wireNames' in plan.service.differences) return;
  for (const entry of sandbox.trace) {
    // Sound: the faults of an event.
    if (deviates(plan, entry.faults as readonly EventFaultName[]) && entry.kind === 'event') continue;
    const name = entry.kind === 'request' ? entry.operation : publishedEvent(entry);
    if (name === undefined || !contract.has(name)) continue;
    for (const problem of contract.problems(name, sentValue(entry)))
      books.breach(`The contract: ${problem}.`);
  }
}

function publishedEvent({ kind, event, faults }: TraceEntry): string | undefined {
  const isAuthentic = kind === 'event' && !faults.includes('forged') && !faults.includes('tampered');
  return isAuthentic ? orderEventNames.find((name) => name === event) : undefined;
}

function sentValue({ method, url = '', body = '' }: TraceEntry): unknown {
  return method === 'GET' ? Object.fromEntries(new URL(url).searchParams) : JSON.parse(body);
}
