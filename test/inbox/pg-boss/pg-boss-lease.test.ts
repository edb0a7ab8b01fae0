import { describe, expect, it } from 'vitest';
import type { BossJob } from '../../../src/inbox/pg-boss/pg-boss-job.ts';
import { noteOf, toLease } from '../../../src/inbox/pg-boss/pg-boss-lease.ts';

const delivery = { digest: 'ab'.repeat(32), name: 'x', key: { index: 0 }, body: '{}' };
const createdOn = new Date(1_800_000_000_000);
const movedOn = new Date(1_700_000_000_000);

/** A job of the inbox as pg-boss gives it with its metadata. */
function jobOf(members: Partial<BossJob> = {}): BossJob {
  return {
    ...{ id: 'id', data: delivery, state: 'active', priority: 0, retryCount: 0, createdOn },
    ...{ expireInSeconds: 65, output: null, sourceCreatedOn: null, sourceRetryCount: null },
    ...members,
  };
}

describe('the lease of a pg-boss job', () => {
  it('is of its delivery, from when the job was made', () => {
    expect(toLease(jobOf())).toStrictEqual({
      ...{ id: 'id', kept: {}, delivery, attempt: 1, retryCount: 0, isolated: false, lost: false },
      receivedAt: createdOn.getTime(),
      timeLimitMs: 60_000,
    });
  });

  it('has the note of the job that this one replaces, and what a newer version has added', () => {
    const data = { ...delivery, receivedAt: 5, attempts: 3, reason: 'no', alone: true, more: 1 };
    expect(toLease(jobOf({ data, retryCount: 2 }))).toMatchObject({
      kept: { more: 1 },
      delivery,
      receivedAt: 5,
      attempt: 6,
    });
    expect(toLease(jobOf({ data }))?.kept).toStrictEqual({ more: 1 });
  });

  it.each([
    ['5 seconds before a long lease', 65, 60_000],
    ['in the middle of a short one', 4, 2_000],
  ])('has a time limit that ends %s', (_, expireInSeconds, timeLimitMs) => {
    expect(toLease(jobOf({ expireInSeconds }))).toMatchObject({ timeLimitMs });
  });

  it.each<[string, Partial<BossJob>, boolean]>([
    ['is lost', { retryCount: 1, output: { message: 'timed out' } }, true],
    ['is lost, without an output,', { retryCount: 1 }, true],
    ['has failed with a reason', { retryCount: 1, output: { reason: 'no' } }, false],
    ['was not there', { retryCount: 0, output: { message: 'other' } }, false],
  ])('knows whether the one before it %s', (_, members, lost) => {
    expect(toLease(jobOf(members))).toMatchObject({ lost });
  });

  it.each([
    [0, false],
    [-1, true],
    [-2, true],
  ])('of priority %i is tried alone: %s', (priority, isolated) => {
    expect(toLease(jobOf({ priority }))).toMatchObject({ isolated });
  });

  it('is none if the job holds no delivery', () => {
    expect(toLease(jobOf({ data: { foreign: true } }))).toBeUndefined();
  });
});

describe('the note of a dead letter in pg-boss', () => {
  it('is what the inbox wrote', () => {
    const data = { ...delivery, receivedAt: 5, attempts: 8, reason: 'r'.repeat(600) };
    const note = noteOf(jobOf({ data, output: { reason: 'other' } }));
    expect(note).toEqual({ receivedAt: new Date(5), attempts: 8, reason: 'r'.repeat(500) });
  });

  it('is what pg-boss wrote, if that moved the job', () => {
    const moved = { sourceCreatedOn: movedOn, sourceRetryCount: 2, output: { reason: 'down' } };
    expect(noteOf(jobOf(moved))).toEqual({ receivedAt: movedOn, attempts: 3, reason: 'down' });
  });

  it('is empty if nobody wrote any', () => {
    expect(noteOf(jobOf())).toEqual({ receivedAt: createdOn, attempts: 0, reason: '' });
  });
});
