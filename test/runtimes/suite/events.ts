import { applyEvent, emptyTimeline, type OrderTimeline, parseOrderEvent } from 'partner-exchange-sdk/events';
import type { JsonObject } from 'partner-exchange-sdk/signature';
import {
  buyCreditedBody,
  buyFiatReceivedBody,
  buyInitBody,
  buyThirdPartyPaymentBody,
  eventBodies,
} from '../../support/bodies.ts';
import { type Checks, equal } from './checks.ts';

export async function checkEvents(checks: Checks): Promise<void> {
  for (const [name, body] of Object.entries(eventBodies)) {
    await checks.run(`${name} is known, and nothing of it is lost`, () => {
      const parsed = parseOrderEvent(body({ more: [1, { deep: '😀' }] }));
      equal(parsed.kind === 'known' && parsed.event, body({ more: [1, { deep: '😀' }] }));
    });
  }
  await checks.run('either kind of KYC error is known', () => {
    equal(parseOrderEvent(buyThirdPartyPaymentBody()).kind, 'known');
  });
  await checks.run('what is unfamiliar is told', () => {
    equal(parseOrderEvent({ event_name: 'event.sell.init' }).kind, 'unknown');
    equal(parseOrderEvent(buyInitBody({ chain: 7 })).kind, 'nonconforming');
    equal(parseOrderEvent([]).kind, 'nonconforming');
  });
  await checks.run('an order ends in the same state whatever order its events come in', () => {
    const bodies = [buyInitBody(), buyFiatReceivedBody(), buyCreditedBody()];
    equal(timelineOf([...bodies, ...bodies].reverse()), timelineOf(bodies));
    equal(timelineOf(bodies).stage, 'credited');
  });
}

function timelineOf(bodies: readonly JsonObject[]): OrderTimeline {
  let timeline = emptyTimeline('A-1001');
  for (const body of bodies) {
    const parsed = parseOrderEvent(body);
    if (parsed.kind === 'known') timeline = applyEvent(timeline, parsed.event);
  }
  return timeline;
}
