import { backoffDelay, type Sleep } from '../../internal/backoff.ts';
import { codeOf } from '../../internal/error-code.ts';
import type { Delivery } from '../deliveries.ts';
import type { Answer, NoAnswer } from '../post-delivery.ts';
import type { DeliveryFolder } from './delivery-folder.ts';

export type Forwarded =
  | { readonly kind: 'answered'; readonly answer: Answer; readonly file: string | undefined }
  /** The target is down or behind: it gets the delivery later. */
  | { readonly kind: 'kept'; readonly reason: string }
  /** The target is down, and the delivery is not authentic. */
  | { readonly kind: 'dropped'; readonly reason: string };

export type Forwarder = ReturnType<typeof createForwarder>;

/** The answer to a delivery that waited. */
export interface LateAnswer {
  /** The name of its file while it waited. */
  readonly waited: string;
  /** The current name of that file; `undefined` if it was removed. */
  readonly file: string | undefined;
  readonly answer: Answer;
  readonly state: 'done' | 'refused';
}

export interface ForwarderOptions {
  readonly folder: DeliveryFolder;
  readonly post: (delivery: Delivery) => Promise<Answer | NoAnswer>;
  readonly onLate: (late: LateAnswer) => void;
  /** Called when a file cannot be read or moved. */
  readonly onProblem: (name: string, error: unknown) => void;
  readonly sleep: Sleep;
  readonly signal: AbortSignal;
}

const retry = { firstDelayMs: 100, maxDelayMs: 5_000 };

/**
 * Forwards deliveries to a target that may be down. While it is up, each goes at once and its sender gets the
 * target's answer. While it is down, deliveries wait in the folder, and then go in their order.
 */
export function createForwarder({ folder, post, onLate, onProblem, sleep, signal }: ForwarderOptions) {
  /** The names of the files of waiting deliveries, in their order. */
  const backlog: string[] = [];
  let isDraining = false;
  let drained: Promise<void> = Promise.resolve();

  function keep(name: string): void {
    // Deliveries that were under way when the target went down fail in any order.
    let place = backlog.length;
    while (place > 0 && (backlog[place - 1] ?? '') > name) place--;
    backlog.splice(place, 0, name);
    if (isDraining) return;
    isDraining = true;
    drained = drain();
  }

  /** Never rejects. */
  async function drain(): Promise<void> {
    let attempt = 1;
    while (!signal.aborted) {
      const [name] = backlog;
      if (name === undefined) break;
      const isGone = await forwardLate(name).catch((error: unknown) => {
        onProblem(name, error);
        // The user removed the file.
        return codeOf(error) === 'ENOENT';
      });
      if (isGone) {
        backlog.splice(backlog.indexOf(name), 1);
        attempt = 1;
      } else await sleep(backoffDelay(attempt++, retry), signal);
    }
    // In the same turn as the check for an empty backlog, so that the next delivery starts the loop again.
    isDraining = false;
  }

  /** Returns whether the delivery is settled. */
  async function forwardLate(name: string): Promise<boolean> {
    const answer = await post(await folder.read(name));
    if (answer.status === undefined || isDown(answer) || isBusy(answer)) return false;
    const state = answer.status < 300 ? 'done' : 'refused';
    onLate({ waited: name, file: await folder.settle(name, state), answer, state });
    return true;
  }

  return {
    /**
     * Forwards a delivery.
     *
     * @param name of its pending file; without one it goes at once or never
     */
    async forward(delivery: Delivery, name: string | undefined): Promise<Forwarded> {
      const isBehind = name !== undefined && backlog.length > 0;
      const answer = isBehind ? undefined : await post(delivery);
      if (answer?.status !== undefined && !isDown(answer)) {
        const file = name === undefined ? undefined : await folder.settle(name, 'done');
        return { kind: 'answered', answer, file };
      }
      if (name !== undefined) keep(name);
      const kind = name === undefined ? 'dropped' : 'kept';
      return { kind, reason: answer === undefined ? 'earlier ones wait' : reasonOf(answer) };
    },
    /** Continues with the pending deliveries of an earlier run. */
    async resume(): Promise<number> {
      const names = await folder.pending();
      for (const name of names) keep(name);
      return names.length;
    },
    get waiting() {
      return backlog.length;
    },
    /** Resolves when the loop over the waiting deliveries has ended. */
    stopped: () => drained,
  };
}

/** No answer, or that of a proxy whose target is missing. 503 also says that nothing was done. */
function isDown(answer: Answer | NoAnswer): boolean {
  return answer.status === undefined || [502, 503, 504].includes(answer.status);
}

/** The target may take it later. Its original sender is gone, so we ask again. */
function isBusy(answer: Answer): boolean {
  return [408, 425, 429].includes(answer.status) || answer.status >= 500;
}

function reasonOf(answer: Answer | NoAnswer): string {
  return answer.status === undefined ? answer.problem : `status ${answer.status}`;
}
