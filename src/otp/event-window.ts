/** The number of recent events, grouped by time into about sixty entries at most. */
export type EventWindow = readonly (readonly [at: number, count: number])[];

const slots = 60;

export function recent(events: EventWindow, windowMs: number, now: number): EventWindow {
  return (
    events
      // If the clock moved back, treat future events as happening now.
      .map(([at, count]) => [Math.min(at, now), count] as const)
      .filter(([at]) => at + windowMs > now)
  );
}

/** Events within a sixtieth of the window become one entry of the last one's time: none counts too short. */
export function withEvent(events: EventWindow, windowMs: number, now: number, count = 1): EventWindow {
  const kept = recent(events, windowMs, now);
  const last = kept.at(-1);
  if (last === undefined || slotOf(last[0], windowMs) !== slotOf(now, windowMs))
    return [...kept, [now, count]];
  return [...kept.slice(0, -1), [now, last[1] + count]];
}

export function withoutEvent(events: EventWindow, windowMs: number, at: number): EventWindow {
  // Its entry may have the time of a later event of the same slot.
  const index = events.findIndex(([time]) => time >= at && slotOf(time, windowMs) === slotOf(at, windowMs));
  return events.flatMap(([time, count], position) => {
    if (position !== index) return [[time, count] as const];
    return count > 1 ? [[time, count - 1] as const] : [];
  });
}

export function countEvents(events: EventWindow): number {
  return events.reduce((sum, [, count]) => sum + count, 0);
}

/** Milliseconds until this number of events has left the window. */
export function waitUntilGone(events: EventWindow, windowMs: number, now: number, many: number): number {
  let gone = 0;
  for (const [at, count] of events) {
    gone += count;
    if (gone >= many) return Math.max(0, at + windowMs - now);
  }
  return windowMs;
}

function slotOf(at: number, windowMs: number): number {
  return Math.floor(at / Math.ceil(windowMs / slots));
}
