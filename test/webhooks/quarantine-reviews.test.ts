import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import { InboxError } from '../../src/errors/errors.ts';
import type { InboxHost, InboxResult } from '../../src/inbox/inbox.ts';
import type { Quarantine, UnverifiedText } from '../../src/inbox/quarantine/quarantine.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import type { WebhooksOptions } from '../../src/webhooks/webhooks-options.ts';
import { eventSignedBy, generation } from '../credentials/keys.ts';
import { gate } from './deliveries.ts';
import { warningsDuring } from './warnings.ts';

const reviewEveryMs = 2_000;
const sameKeysEveryMs = 60_000;

/** A quarantine that keeps bodies in the order in which they came. */
function quarantineInMemory() {
  const bodies = new Map<string, UnverifiedText>();
  const list: Quarantine['list'] = async ({ after, limit }) => {
    const all = [...bodies.values()];
    const from = all.findIndex(({ digest }) => digest === after) + 1;
    return all.slice(from, from + limit);
  };
  const quarantine = {
    keep: vi.fn<Quarantine['keep']>(async (text) => {
      bodies.set(text.digest, text);
      return 'kept';
    }),
    list: vi.fn(list),
    remove: vi.fn<Quarantine['remove']>(async (digests) => {
      for (const digest of digests) bodies.delete(digest);
    }),
  };
  return { bodies, quarantine };
}

/** Keys that the test changes: others are awaited until `areAll`. */
interface Source {
  keys: readonly [PartnerCredentials, ...PartnerCredentials[]] | Error;
  areAll: boolean;
}

/** A receiver whose inbox and quarantine the test looks into. */
function receiver(options: WebhooksOptions = {}, shared = quarantineInMemory()) {
  const source: Source = { keys: [generation(1)], areAll: false };
  const load = () => {
    if (source.keys instanceof Error) throw source.keys;
    return { signing: source.keys[0], verifying: source.keys, awaited: !source.areAll };
  };
  const ring = createKeyRing({ load, cooldownMs: 0, onError: () => {} });
  // Otherwise what is kept is reviewed for as long as the process runs.
  onTestFinished(() => void shared.quarantine.list.mockResolvedValue([]));
  const received: string[] = [];
  const inbox = { result: 'stored' as InboxResult, host: undefined as InboxHost | undefined };
  const webhooks = createWebhooks({
    credentials: ring,
    inbox: {
      quarantine: shared.quarantine,
      attach(host) {
        inbox.host = host;
      },
      async receive({ body }) {
        received.push(String(JSON.parse(body).partner_order_id));
        return inbox.result;
      },
    },
    onRefused: () => {},
    ...options,
  });
  return {
    ...{ ...shared, source, ring, inbox, received, webhooks },
    review: async () => await inbox.host?.review?.(),
  };
}

/** Warnings about the quarantine while `act` runs. */
async function warningsOfQuarantine(act: () => unknown): Promise<string[]> {
  const warnings = await warningsDuring(act);
  return warnings.map(({ message }) => message).filter((message) => message.includes('quarantine'));
}

describe('a body that cannot be verified yet', () => {
  it('is kept under digests alone, and nothing is complained of', async () => {
    const { webhooks, quarantine } = receiver();
    const body = eventSignedBy(2);
    expect(await warningsOfQuarantine(() => webhooks.receive(body))).toEqual([]);
    expect(quarantine.keep.mock.calls).toEqual([
      [
        {
          body,
          digest: expect.stringMatching(/^[0-9a-f]{64}$/),
          partners: expect.stringMatching(/^[0-9a-f]{16}$/),
        },
      ],
    ]);
  });

  it('is not kept where there is no room or no store, and the operator hears of each once', async () => {
    const { webhooks, quarantine } = receiver();
    const warnings = await warningsOfQuarantine(async () => {
      for (const order of ['A-1', 'A-2', 'A-3', 'A-4']) {
        if (order < 'A-3') quarantine.keep.mockResolvedValueOnce('full');
        else quarantine.keep.mockRejectedValueOnce(new Error('down'));
        expect(await webhooks.receive(eventSignedBy(2, order))).toMatchObject({ quarantined: false });
      }
    });
    expect(warnings).toEqual([
      expect.stringMatching(/^The quarantine of the inbox is full/),
      expect.stringMatching(/^The quarantine of the inbox failed.*: down/),
    ]);
  });

  it('is not kept where there are no keys at all', async () => {
    const { webhooks, quarantine, source } = receiver();
    source.keys = new Error('down');
    expect(await webhooks.receive(eventSignedBy(2))).toMatchObject({
      code: 'keys_unavailable',
      quarantined: false,
    });
    expect(quarantine.keep).not.toHaveBeenCalled();
  });

  it.each<InboxResult>(['busy', 'stored'])('stays until the inbox has it: %s', async (result) => {
    const { webhooks, quarantine, source, inbox, review } = receiver();
    await webhooks.receive(eventSignedBy(2));
    source.keys = [generation(2)];
    inbox.result = result;
    await review();
    const id = quarantine.keep.mock.calls[0]?.[0].digest;
    expect(quarantine.remove.mock.calls).toEqual(result === 'stored' ? [[[id]]] : []);
  });

  it('stays while the newest keys of the ring cannot be used', async () => {
    const { webhooks, source, bodies, received, review } = receiver();
    await webhooks.receive(eventSignedBy(2));
    const { merchantSecretKey: _, ...bare } = generation(2);
    Object.assign(source, { keys: [bare], areAll: true });
    await warningsDuring(review);
    expect(bodies.size).toBe(1);
    source.keys = [generation(2)];
    await review();
    expect(received).toEqual(['A-1']);
  });

  it('that the scheme of now cannot read does not stop the others', async () => {
    const shared = quarantineInMemory();
    await receiver({}, shared).webhooks.receive(eventSignedBy(2, 'hex'));
    const signature = { ...defaultScheme, encoding: 'base64' as const };
    const { webhooks, source, received, review } = receiver(
      { deployment: { signature, wireNames: {} } },
      shared,
    );
    await webhooks.receive(inBase64(eventSignedBy(2, 'base64')));
    source.keys = [generation(2)];
    await review();
    expect(received).toEqual(['base64']);
  });
});

function inBase64(body: string): string {
  const { signature, ...others } = JSON.parse(body);
  return JSON.stringify({ ...others, signature: Buffer.from(signature, 'hex').toString('base64') });
}

describe('a review', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  it('reads page after page', async () => {
    const { webhooks, bodies, source, received, review } = receiver();
    await webhooks.receive(eventSignedBy('forger'));
    const [forged] = bodies.values();
    if (forged === undefined) return expect.unreachable();
    for (let index = 0; index < 300; index++) bodies.set(`${index}`, { ...forged, digest: `${index}` });
    await webhooks.receive(eventSignedBy(2));
    source.keys = [generation(2)];
    await review();
    expect(received).toEqual(['A-1']);
  });

  it('that is asked for during another one shares it', async () => {
    const { quarantine, review } = receiver();
    const { opened, open } = gate();
    quarantine.list.mockImplementationOnce(async () => {
      await opened;
      return [];
    });
    const reviews = [review(), review()];
    open();
    await Promise.all(reviews);
    expect(quarantine.list).toHaveBeenCalledOnce();
    await review();
    expect(quarantine.list).toHaveBeenCalledTimes(2);
  });

  it('that meets a defect of the ring tells the operator', async () => {
    const { webhooks, ring, review } = receiver();
    await webhooks.receive(eventSignedBy(2));
    await review();
    ring.newerThan = () => Promise.reject(new TypeError('no ring'));
    expect(await warningsOfQuarantine(review)).toEqual([expect.stringMatching(/failed.*: no ring/)]);
  });

  it('waits for no other one on workerd, where a cancelled request never ends its own', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
    const { webhooks, quarantine, source, received, review } = receiver();
    await webhooks.receive(eventSignedBy(2));
    source.keys = [generation(2)];
    quarantine.list.mockImplementationOnce(() => new Promise(() => {}));
    void review();
    await review();
    expect(received).toContain('A-1');
  });

  it('compares bodies with the same keys again after a minute: another process may have kept some', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    vi.advanceTimersByTime(sameKeysEveryMs / 2);
    const { webhooks, source, bodies, received, review } = receiver();
    const other = receiver();
    await webhooks.receive(eventSignedBy('forger'));
    source.keys = [generation(2)];
    await review();
    await other.webhooks.receive(eventSignedBy(2));
    for (const [id, body] of other.bodies) bodies.set(id, body);
    vi.advanceTimersByTime(sameKeysEveryMs - 1);
    await review();
    expect(received).toEqual([]);
    vi.advanceTimersByTime(1);
    await review();
    expect(received).toEqual(['A-1']);
  });
});

describe('a process that gets no further delivery', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('hands over what it kept, also if its keys were reviewed before', async () => {
    const { webhooks, source, received } = receiver();
    await webhooks.receive(eventSignedBy(1, 'before'));
    await webhooks.receive(eventSignedBy(2));
    source.keys = [generation(2)];
    await vi.advanceTimersByTimeAsync(reviewEveryMs);
    expect(received).toEqual(['before', 'A-1']);
  });

  it('tries again after its store was down, and warns once of that', async () => {
    const { webhooks, quarantine, source, received } = receiver();
    await webhooks.receive(eventSignedBy(1, 'before'));
    const down = new InboxError('store_unavailable', 'The store is down.');
    const warnings = await warningsOfQuarantine(async () => {
      await webhooks.receive(eventSignedBy(2));
      for (const _ of [1, 2]) {
        quarantine.list.mockRejectedValueOnce(down);
        await vi.advanceTimersByTimeAsync(reviewEveryMs);
      }
    });
    expect(warnings).toEqual([expect.stringMatching(/^The quarantine of the inbox failed.*store is down/)]);
    source.keys = [generation(2)];
    await vi.advanceTimersByTimeAsync(reviewEveryMs);
    expect(received).toEqual(['before', 'A-1']);
  });

  it('ends its reviews silently once its inbox is stopped', async () => {
    const { webhooks, quarantine } = receiver();
    await webhooks.receive(eventSignedBy(2));
    quarantine.list.mockRejectedValue(new InboxError('inbox_stopped', 'The inbox was stopped.'));
    const warnings = await warningsOfQuarantine(() => vi.advanceTimersByTimeAsync(reviewEveryMs));
    expect([warnings, vi.getTimerCount()]).toEqual([[], 0]);
  });

  it('leaves what others have kept alone while it has no keys itself: its ring warns of that', async () => {
    const shared = quarantineInMemory();
    await receiver({}, shared).webhooks.receive(eventSignedBy(2));
    vi.clearAllTimers();
    const { source, review } = receiver({}, shared);
    source.keys = new Error('down');
    expect([await warningsOfQuarantine(review), vi.getTimerCount()]).toEqual([[], 0]);
  });
});
