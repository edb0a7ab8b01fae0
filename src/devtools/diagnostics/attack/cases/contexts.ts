import { isAccepted, type PostAnswer } from '../../post-request.ts';
import type { Attack, AttackCase, CaseTable } from '../attack-case.ts';
import { type CaseResult, worstOf } from '../case-result.ts';
import { type CauseId, secondEffectCauses, unsignedCauses } from '../causes.ts';
import { deliverAsService, judgeAcceptance, refused } from '../judge.ts';
import { objectOf, orderIdOf, type ProbeMembers, type ProbeRequest, withSignature } from '../probes.ts';

const noSecondWay =
  'Verify every delivery, on every way into the receiver, before anything else: what was delivered before, who seems to send it and in which form it comes prove nothing.';

/** Forgeries that a cache, a gate or a second way into the receiver lets through. */
export const contextCases = {
  'forged-after-genuine': inContext({
    what: 'forged deliveries about an order of which a genuine one was accepted just before',
    fault: 'accepts forgeries about an order of which it has accepted a genuine delivery',
    causes: ['unsigned-other-events', 'forged-other-events', 'remembers-forgeries', ...secondEffectCauses],
    async deliveries(attack) {
      const { probes } = attack;
      const genuine = probes.authentic();
      await deliverAsService(attack, genuine);
      const partner_order_id = orderIdOf(genuine);
      return forgedAndUnsigned(
        attack,
        { partner_order_id, fiat_amount_to_pay: 70 },
        { partner_order_id, event_name: 'buy.event.close' },
        { partner_order_id, event_name: 'event.buy.received.fiat' },
      );
    },
  }),
  'delivered-signature': inContext({
    what: 'other bodies under a signature that was delivered and accepted just before',
    fault: 'accepts any body under a signature that it has accepted before',
    causes: ['forged-other-events', 'signs-a-part'],
    advice:
      'Verify the signature over this body each time: a signature that was right once is right for one text.',
    async deliveries(attack) {
      const { probes } = attack;
      const genuine = probes.authentic();
      await deliverAsService(attack, genuine);
      const { signature, ...event } = objectOf(genuine) ?? {};
      return [
        { partner_order_id: probes.newId() },
        { partner_order_id: probes.newId(), event_name: 'buy.event.close' },
        { partner_order_id: probes.newId(), buyer_crypto_address: 'forged' },
      ].map((members) => ({ body: withSignature(JSON.stringify({ ...event, ...members }), signature) }));
    },
  }),
  'forged-bearer': inContext({
    what: 'forged deliveries without Authorization, with another bearer, and with another scheme',
    fault: 'accepts forgeries without the usual Authorization header',
    deliveries: (attack) =>
      [undefined, 'Bearer pk_partner_another', 'Basic cGFydG5lcjpwYXJ0bmVy', 'Bearer'].flatMap(
        (authorization) =>
          forgedAndUnsigned(attack, {}).map((request) => ({ ...request, headers: { authorization } })),
      ),
  }),
  'forged-from-service': inContext({
    what: 'forged deliveries that seem to come from loopback or private addresses (X-Forwarded-For and the like)',
    fault: 'accepts forgeries that name an address in X-Forwarded-For or a header like it',
    advice:
      'Verify whatever the address is: every sender writes X-Forwarded-For itself, and only the part that your own proxy adds is true.',
    deliveries: (attack) =>
      insideAddresses.flatMap((address) =>
        forgedAndUnsigned(attack, {}).map((request) => ({ ...request, headers: forwardedFrom(address) })),
      ),
  }),
  'forged-other-paths': {
    what: 'forged deliveries to other spellings of the path: a slash more or less, another case, a query, a path below',
    expected: 'anything but 2xx',
    causes: unsignedCauses,
    async run(attack): Promise<CaseResult> {
      const requests: ProbeRequest[] = otherPaths(new URL(attack.url).pathname).flatMap((path) =>
        forgedAndUnsigned(attack, {}).map((request) => ({ ...request, path: () => path })),
      );
      requests.push(
        ...forgedAndUnsigned(attack, {}).map((request) => ({ ...request, query: 'source=service' })),
      );
      const statuses = new Set<string>();
      for (const request of requests) {
        const answer = await attack.post(request);
        statuses.add(answer.kind === 'answered' ? String(answer.status) : answer.kind);
        // With `handled` the effects decide, because a catch-all page may answer 200.
        if (!isAccepted(answer) || (attack.handled?.isKnown() && request.path !== undefined)) continue;
        const isPage =
          request.path !== undefined && isAccepted(await attack.post({ ...request, body: 'no event' }));
        return {
          verdict: isPage ? 'weak' : 'broken',
          answered: `${describe(request)}: 2xx`,
          problem: 'accepted',
          fault: 'accepts forgeries at another spelling of its path',
          advice: noSecondWay,
        };
      }
      return { verdict: 'ok', answered: [...statuses].join(', ') };
    },
  },
  'forged-as-form': inContext({
    what: 'forged deliveries as form data: each member a field, and the event in one field',
    fault: 'accepts forgeries as form data',
    causes: ['fails-on-not-json'],
    deliveries: (attack) =>
      forgedAndUnsigned(attack, {}).flatMap(({ body }) => {
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const fields = Object.entries(objectOf(body) ?? {}).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]);
        const forms = [fields, [['payload', body]], [['data', body]]];
        return forms.map((form) => ({ body: String(new URLSearchParams(form)), headers, carries: body }));
      }),
  }),
  'forged-in-list': inContext({
    what: 'forged deliveries in a list of events, alone and behind a genuine one',
    fault: 'accepts forgeries in a list of events',
    causes: ['fails-on-not-json', 'wrong-type'],
    advice: 'Refuse a body that is not one JSON object: the service sends one event, with one signature.',
    deliveries: (attack) => {
      const { probes } = attack;
      return forgedAndUnsigned(attack, {}).flatMap(({ body }) => {
        const genuine = probes.authentic();
        return [
          `[${body}]`,
          `[${genuine},${body}]`,
          `{"events":[${genuine},${body}]}`,
          `${genuine}\n${body}`,
        ].map((list) => ({ body: list, carries: body }));
      });
    },
  }),
  'forged-compressed': inContext({
    what: 'forged deliveries that are compressed: gzip and deflate',
    fault: 'accepts forgeries that are compressed',
    causes: ['fails-on-not-json', 'fails-on-other-encodings'],
    async deliveries(attack) {
      const requests: ProbeRequest[] = [];
      for (const encoding of ['gzip', 'deflate'] as const) {
        for (const { body } of forgedAndUnsigned(attack, {})) {
          const headers = { 'content-encoding': encoding };
          requests.push({ body: await compressed(body, encoding), headers, carries: body });
        }
      }
      return requests;
    },
  }),
  'forged-large': inContext({
    what: 'forged deliveries of 70 kB, 110 kB, 300 kB and 1.1 MB, which usual limits let through or cut',
    fault: 'accepts forgeries that are larger than usual',
    deliveries: (attack) =>
      [70_000, 110_000, 300_000, 1_100_000].flatMap((size) =>
        forgedAndUnsigned(attack, { note: 'x'.repeat(size) }),
      ),
  }),
  'forged-among-genuine': {
    what: 'twenty forged deliveries among twenty genuine ones, all at once',
    expected: '4xx to the forged, 2xx to the genuine',
    causes: unsignedCauses,
    run: flood,
  },
} satisfies CaseTable;

interface InContext {
  readonly what: string;
  readonly fault: string;
  readonly advice?: string;
  readonly causes?: readonly CauseId[];
  readonly deliveries: (attack: Attack) => readonly ProbeRequest[] | Promise<readonly ProbeRequest[]>;
}

/** Forgeries that follow other deliveries, or come in another form. */
function inContext({ advice = noSecondWay, causes = [], deliveries, ...described }: InContext): AttackCase {
  return refused({
    ...described,
    advice,
    causes: [...unsignedCauses, ...causes],
    // Large bodies may end the connection, and so may forms.
    ifClosed: 'ok',
    deliveries: (_probes, _credentials, attack) => deliveries(attack),
  });
}

/** Each event with the signature of another text, and without one. */
function forgedAndUnsigned({ probes }: Attack, ...all: readonly ProbeMembers[]) {
  return all.flatMap((members) => {
    const [first, second] = [probes.unsigned(members), probes.unsigned(members)];
    return [{ body: probes.forged(first) }, { body: second }];
  });
}

const insideAddresses = ['127.0.0.1', '::1', '10.0.0.1', '172.16.0.1', '192.168.0.1'];

/** All headers that servers and proxies read an address from. */
function forwardedFrom(address: string): Readonly<Record<string, string>> {
  return {
    'x-forwarded-for': address,
    'x-real-ip': address,
    'x-client-ip': address,
    'x-original-forwarded-for': address,
    'cf-connecting-ip': address,
    'true-client-ip': address,
    forwarded: `for=${address.includes(':') ? `"[${address}]"` : address}`,
  };
}

function otherPaths(pathname: string): readonly string[] {
  const bare = pathname.replace(/\/+$/, '');
  const letter = bare.slice(1, 2);
  const encoded = `/%${letter.charCodeAt(0).toString(16)}${bare.slice(2)}`;
  const all = [
    `${bare}/`,
    bare,
    `${bare}//`,
    `/${bare}`,
    bare.toUpperCase(),
    `${bare.slice(0, 1)}${letter.toUpperCase()}${bare.slice(2)}`,
    letter === '' ? '' : encoded,
    `${bare}/test`,
    `${bare}/retry`,
    `${bare}.json`,
    `${bare};v=1`,
  ];
  return [...new Set(all)].filter((path) => path !== '' && path !== pathname);
}

function describe({ path, query }: ProbeRequest): string {
  return path === undefined ? `?${query}` : path('');
}

/** Compresses on every runtime. */
async function compressed(text: string, encoding: 'gzip' | 'deflate'): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream(encoding));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Only what is accepted counts for the forged: a server may close connections that are too many. */
async function flood(attack: Attack): Promise<CaseResult> {
  const { probes, post } = attack;
  const forged = Array.from({ length: 20 }, () => probes.forged());
  const authentic = forged.map(() => probes.authentic());
  const inTurn = forged.flatMap((body, index) => [body, authentic[index] ?? body]);
  const answers = new Map<string, PostAnswer>();
  await Promise.all(inTurn.map(async (body) => answers.set(body, await post({ body }))));
  const isLetThrough = forged.filter((body) => isAccepted(answers.get(body) ?? closed)).length;
  if (isLetThrough > 0) {
    return {
      verdict: 'broken',
      answered: `2xx to ${isLetThrough} of ${forged.length} forgeries`,
      problem: 'accepted',
      fault: 'accepts forgeries when many deliveries come at once',
      advice:
        'Keep what belongs to one request in that request: a variable that two share, or a gate that opens under load, lets the forgery of one pass with the signature of another.',
    };
  }
  const lost: CaseResult[] = [];
  for (const body of authentic) {
    if (isAccepted(answers.get(body) ?? closed)) continue;
    const again = judgeAcceptance(await deliverAsService(attack, body), noShared);
    if (again.verdict !== 'ok') lost.push(again);
  }
  return worstOf([...lost, { verdict: 'ok', answered: 'no forgery passed' }]);
}

const closed: PostAnswer = { kind: 'closed', reason: 'unknown' };
const noShared =
  'Keep what belongs to one request in that request: genuine deliveries at the same time as forged ones were refused.';
