import type { Delivery } from '../deliveries/delivery-file.ts';
import type { DeliveryFolder } from './delivery-folder.ts';
import type { Forwarded, Forwarder } from './forwarder.ts';
import type { Judgement } from './judge-delivery.ts';
import { jsonAnswer, refusal, type SenderAnswer } from './receive-server.ts';

/** What happened to a delivery. */
export interface Received {
  readonly judgement: Judgement;
  readonly delivery: Delivery;
  /** The file that it is kept in. */
  readonly file: string | undefined;
  readonly forwarded: Forwarded | undefined;
  readonly answer: SenderAnswer;
}

export interface ReceivingOptions {
  readonly judge: (body: Uint8Array) => Judgement;
  /** Where deliveries are kept, if they are. */
  readonly folder: DeliveryFolder | undefined;
  /** Passes deliveries on, if they are; it needs the folder. */
  readonly forwarder: Forwarder | undefined;
}

/**
 * Takes a delivery: it is on the disk before anybody is answered. An authentic one that its target does not get now is
 * acknowledged, since it is kept for later; one that is not authentic is refused then, and does not wait.
 */
export async function receiveDelivery(
  delivery: Delivery,
  { judge, folder, forwarder }: ReceivingOptions,
): Promise<Received> {
  const judgement = judge(delivery.body);
  const mayWait = judgement.signature !== 'refused';
  const file = await save();
  const own = mayWait ? jsonAnswer(200, { received: true }) : refusal(401, judgement.code ?? 'refused');
  if (forwarder === undefined) return { judgement, delivery, file, forwarded: undefined, answer: own };
  const forwarded = await forwarder.forward(delivery, mayWait ? file : undefined);
  if (forwarded.kind !== 'answered') return { judgement, delivery, file, forwarded, answer: own };
  const settled = mayWait ? forwarded.file : file;
  return { judgement, delivery, file: settled, forwarded, answer: forwarded.answer };

  async function save(): Promise<string | undefined> {
    if (forwarder !== undefined && mayWait) return folder?.save(delivery, 'pending');
    return folder?.keepsDone ? folder.save(delivery, 'done') : undefined;
  }
}
