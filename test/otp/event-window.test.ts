import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countEvents,
  type EventWindow,
  recent,
  waitUntilGone,
  withEvent,
  withoutEvent,
} from '../../src/otp/event-window.ts';

const windowMs = 3_600_000;
const start = 1_700_000_000_000;
const none: EventWindow = [];

describe('a window of events', () => {
  it('counts an event for the length of the window', () => {
    const events = withEvent(none, windowMs, start);
    expect(countEvents(recent(events, windowMs, start + windowMs - 1))).toBe(1);
    expect(countEvents(recent(events, windowMs, start + windowMs))).toBe(0);
  });

  it('stays small however many events there are', () => {
    let events = none;
    const pauseMs = windowMs / 1_000;
    for (let at = start; at < start + 2 * windowMs; at += pauseMs) events = withEvent(events, windowMs, at);
    expect(events.length).toBeLessThanOrEqual(61);
    expect(countEvents(events)).toBeGreaterThanOrEqual(1_000);
  });

  it('never counts fewer events than there were, nor any that are older by more than a sixtieth', () => {
    const pauses = fc.array(fc.nat({ max: windowMs / 3 }), { maxLength: 60 });
    fc.assert(
      fc.property(pauses, (gaps) => {
        let events = none;
        let now = start;
        const all: number[] = [];
        for (const gap of gaps) {
          now += gap;
          all.push(now);
          events = withEvent(events, windowMs, now);
          const counted = countEvents(recent(events, windowMs, now));
          const within = (ms: number) => all.filter((at) => at + ms > now).length;
          expect(counted).toBeGreaterThanOrEqual(within(windowMs));
          expect(counted).toBeLessThanOrEqual(within(windowMs + windowMs / 60));
        }
      }),
    );
  });

  it('says how long it takes until there is room', () => {
    let events = none;
    for (const at of [0, 600_000, 1_200_000]) events = withEvent(events, windowMs, start + at);
    const now = start + 1_800_000;
    expect(waitUntilGone(events, windowMs, now, 1)).toBe(1_800_000);
    expect(waitUntilGone(events, windowMs, now, 2)).toBe(2_400_000);
    expect(countEvents(recent(events, windowMs, now + 2_400_000))).toBe(1);
  });

  it('gives back an event of a time, also one that shares its entry, and no other', () => {
    let events = withEvent(withEvent(none, windowMs, start), windowMs, start + 1);
    expect(events).toHaveLength(1);
    events = withoutEvent(events, windowMs, start);
    expect(countEvents(events)).toBe(1);
    events = withoutEvent(events, windowMs, start + 1);
    expect(events).toEqual([]);
    expect(withoutEvent(events, windowMs, start)).toEqual([]);
    const later = withEvent(none, windowMs, start + windowMs / 2);
    expect(withoutEvent(later, windowMs, start)).toEqual(later);
  });

  it('counts what seems to be in the future as of now', () => {
    const events = withEvent(none, windowMs, start + 86_400_000);
    expect(recent(events, windowMs, start)).toEqual([[start, 1]]);
  });
});
