import { isAccepted, type PostAnswer } from '../../post-request.ts';
import type { Attack, CaseTable } from '../attack-case.ts';
import { type CaseResult, worstOf } from '../case-result.ts';
import { secondEffectCauses, unsignedCauses } from '../causes.ts';
import { deliverAsService, judgeAcceptance, refused } from '../judge.ts';
import { objectOf, orderIdOf, withSignature } from '../probes.ts';

/** Forgeries that a genuine delivery before or beside them lets through. */
export const contextCases = {
  'forged-after-genuine': refused({
    what: 'forged deliveries about an order of which a genuine one was accepted just before',
    causes: [
      ...unsignedCauses,
      'unsigned-other-events',
      'forged-other-events',
      'remembers-forgeries',
      ...secondEffectCauses,
    ],
    faults: { accepted: 'accepts forgeries about an order of which it has accepted a genuine delivery' },
    advice:
      'Verify every delivery before anything else: what was delivered before proves nothing about the next one.',
    async deliveries(probes, attack) {
      const genuine = probes.authentic();
      await deliverAsService(attack, genuine);
      const partner_order_id = orderIdOf(genuine);
      return [
        { partner_order_id, fiat_amount_to_pay: 70 },
        { partner_order_id, event_name: 'buy.event.close' },
        { partner_order_id, event_name: 'event.buy.received.fiat' },
      ].flatMap((members) => [
        { body: probes.forged(probes.unsigned(members)) },
        { body: probes.unsigned(members) },
      ]);
    },
  }),
  'delivered-signature': refused({
    what: 'other bodies under a signature that was delivered and accepted just before',
    causes: ['forged-other-events', 'signs-a-part'],
    faults: { accepted: 'accepts any body under a signature that it has accepted before' },
    advice:
      'Verify the signature over this body each time: a signature that was right once is right for one text.',
    async deliveries(probes, attack) {
      const genuine = probes.authentic();
      await deliverAsService(attack, genuine);
      const { signature, ...event } = objectOf(genuine) ?? {};
      return [{}, { event_name: 'buy.event.close' }, { buyer_crypto_address: 'forged' }].map((members) => {
        const forged = { ...event, partner_order_id: probes.newId(), ...members };
        return { body: withSignature(JSON.stringify(forged), signature) };
      });
    },
  }),
  'forged-among-genuine': {
    what: 'twenty forged deliveries among twenty genuine ones, all at once',
    expected: '4xx to the forged, 2xx to the genuine',
    causes: unsignedCauses,
    faults: {
      accepted: 'accepts forgeries when many deliveries come at once',
      lost: 'refuses genuine deliveries that come at the same time as forged ones',
    },
    advice:
      'Keep what belongs to one request in that request: a variable that two share, or a gate that opens under load, lets the forgery of one pass with the signature of another.',
    run: flood,
  },
} satisfies CaseTable;

/** Only what is accepted counts for the forged: a server may close connections that are too many. */
async function flood(attack: Attack): Promise<CaseResult> {
  const { probes, post } = attack;
  const forged = Array.from({ length: 20 }, () => probes.forged());
  const authentic = forged.map(() => probes.authentic());
  const inTurn = forged.flatMap((body, index) => [body, authentic[index] ?? body]);
  const answers = new Map<string, PostAnswer>();
  await Promise.all(inTurn.map(async (body) => answers.set(body, await post({ body }))));
  const isTaken = (body: string) => {
    const answer = answers.get(body);
    return answer !== undefined && isAccepted(answer);
  };
  const passed = forged.filter(isTaken).length;
  if (passed > 0) {
    return {
      verdict: 'broken',
      answered: `2xx to ${passed} of ${forged.length} forgeries`,
      problem: 'accepted',
    };
  }
  const lost: CaseResult[] = [];
  for (const body of authentic) {
    if (isTaken(body)) continue;
    const again = judgeAcceptance(await deliverAsService(attack, body));
    if (again.verdict !== 'ok') lost.push(again);
  }
  return worstOf([...lost, { verdict: 'ok', answered: 'no forgery passed' }]);
}
