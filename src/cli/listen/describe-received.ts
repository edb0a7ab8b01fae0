import { printableText } from '../../redaction/printable-text.ts';
import type { Answer } from '../deliveries/post-delivery.ts';
import { describeAnswer } from '../output/describe-answer.ts';
import type { Paint } from '../output/paint.ts';
import type { Judgement } from './judge-delivery.ts';
import type { Received } from './receive-delivery.ts';

/** A received delivery, as `listen --format json` prints it. */
export function receivedItem({ judgement, delivery, file, forwarded, answer }: Received): object {
  return {
    at: delivery.receivedAt,
    target: delivery.target,
    bytes: delivery.body.byteLength,
    ...judgement,
    file,
    ...(forwarded !== undefined && { forwarded: forwardedItem(forwarded) }),
    answered: answer.status,
  };
}

function forwardedItem(forwarded: NonNullable<Received['forwarded']>): object {
  if (forwarded.kind !== 'answered') return forwarded;
  const { status, durationMs } = forwarded.answer;
  return { kind: 'answered', status, durationMs };
}

/** The same in one line. */
export function describeReceived(received: Received, paint: Paint): string {
  const { judgement, delivery, forwarded, answer } = received;
  const time = delivery.receivedAt?.slice(11, 19) ?? '';
  const outcome =
    forwarded?.kind === 'answered'
      ? describeAnswer(forwarded.answer, paint)
      : `${paint(answer.status < 300 ? 'green' : 'red', String(answer.status))}${forwarded === undefined ? '' : ` ${paint('yellow', `${forwarded.kind}: ${printableText(forwarded.reason)}`)}`}`;
  return `${paint('dim', time)} ${describeJudgement(judgement, paint)} -> ${outcome}`;
}

/** What is said when something that waited was forwarded. */
export function describeLate(file: string | undefined, answer: Answer, paint: Paint): string {
  return `${paint('dim', 'late')} ${printableText(file ?? 'forwarded')} -> ${describeAnswer(answer, paint)}`;
}

function describeJudgement(judgement: Judgement, paint: Paint): string {
  const { signature, code, kind, event_name, partner_order_id, platform_order_ref, merchant } = judgement;
  const { fiat_payment_status: fiat, crypto_payment_status: crypto } = judgement;
  const style = ({ verified: 'green', refused: 'red', unchecked: 'yellow' } as const)[signature];
  const facts = [
    event_name,
    partner_order_id,
    platform_order_ref,
    fiat === undefined && crypto === undefined ? undefined : `${fiat ?? '?'}/${crypto ?? '?'}`,
    kind === undefined || kind === 'known' ? undefined : kind,
    merchant === undefined ? undefined : `merchant ${merchant}`,
  ].filter((fact) => fact !== undefined);
  return [
    paint(style, signature),
    ...(code === undefined ? [] : [paint('red', code)]),
    // Somebody else's texts: they must not colour or move what follows.
    ...facts.map(printableText),
  ].join(' ');
}
