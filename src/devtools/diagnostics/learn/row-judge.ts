import type { Deployment } from '../../../deployment/define-deployment.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import type { CapturedReply } from './captured-reply.ts';
import type { GenuineEvent } from './event-evidence.ts';
import type { RowObservation, RowRule } from './evidence.ts';
import type { LoggedOrder } from './order-log.ts';

type Observed = RowObservation | undefined;

/** Judged from each event. */
interface EventJudge extends RowRule {
  readonly event: (event: GenuineEvent) => Observed;
  /** Whether repetitions are looked at too. */
  readonly takesRepeated?: true;
}

/** Judged from each reply. */
interface CallJudge extends RowRule {
  readonly call: (reply: CapturedReply, deployment: Deployment<unknown>) => Observed;
}

/** Judged from the replies to an order and its events, when all have been read. */
interface OrderJudge extends RowRule {
  readonly order: (order: LoggedOrder, deployment: Deployment<unknown>) => Observed;
}

/** Judged by the schemes that fit. */
interface SchemeJudge {
  readonly part: keyof SignatureScheme;
  readonly howToSee: string;
}

/** Nothing that is captured can show it. */
interface NoJudge {
  readonly cannot: string;
}

/** How a row is judged, or why it is not. */
export type RowJudge = EventJudge | CallJudge | OrderJudge | SchemeJudge | NoJudge;
