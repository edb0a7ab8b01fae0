import type { QueueInbox } from '../../src/inbox/queue/queue-inbox.ts';
import type { QueueMessage } from '../../src/inbox/queue/queue-message.ts';
import type { Machine } from './machine.ts';
import type { World } from './world.ts';

interface BrokerMessage {
  readonly number: number;
  /** As the wire has it. */
  readonly text: string;
  readonly digest: string;
  deliveries: number;
  /** How many consumers have it now. */
  holders: number;
  isSettled: boolean;
}

/** Milliseconds until the broker gives a message that nobody has settled to somebody else. */
const visibilityMs = 90_000;
const prefetch = 4;

/** A queue as brokers have it: it redelivers, reorders, and gives a message to two consumers at once. */
export class Broker {
  readonly dead: BrokerMessage[] = [];
  readonly #world: World;
  readonly #waiting: BrokerMessage[] = [];
  readonly #held = new Map<Machine, number>();
  #numbers = 0;
  #open = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Neither settled nor dead. */
  get open(): number {
    return this.#open;
  }

  /** Resolves when the broker has it. */
  async send(machine: Machine, message: QueueMessage): Promise<void> {
    const { simulation } = this.#world;
    const fault = this.#world.drawFault('network', machine);
    await simulation.delay(3, machine);
    if (fault === 'refused' || fault === 'reset-before') throw new Error('The broker was not reached.');
    if (fault === 'dies-before') return this.#world.die(machine, 'while it sends a message');
    const text = JSON.stringify(message);
    const copies = simulation.stream(`broker ${this.#numbers}`).chance(0.1) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      this.#open++;
      this.#waiting.push({
        ...{ number: this.#numbers++, text, digest: message.digest },
        ...{ deliveries: 0, holders: 0, isSettled: false },
      });
    }
    if (fault === 'dies-after') return this.#world.die(machine, 'when the broker has its message');
    await simulation.delay(3, machine);
    if (fault === 'reset-after') throw new Error('The broker did not answer.');
  }

  /** Gives messages to the consumers, from time to time. */
  start(): void {
    const { simulation } = this.#world;
    const random = simulation.stream('broker');
    const turn = () => {
      for (const { machine, inbox, isReceiver } of this.#world.alive()) {
        if (isReceiver || !('handleMessage' in inbox)) continue;
        while ((this.#held.get(machine) ?? 0) < prefetch && this.#waiting.length > 0) {
          const index = random.chance(0.3) ? Math.floor(random.fraction() * this.#waiting.length) : 0;
          const [message] = this.#waiting.splice(index, 1);
          if (message !== undefined) void this.#deliver(message, machine, inbox);
        }
      }
      simulation.after(1_000, undefined, turn);
    };
    turn();
  }

  async #deliver(message: BrokerMessage, machine: Machine, inbox: QueueInbox): Promise<void> {
    const { simulation } = this.#world;
    this.#held.set(machine, (this.#held.get(machine) ?? 0) + 1);
    message.deliveries++;
    message.holders++;
    if (message.holders > 1) this.#world.count('two consumers held one message');
    let isHeld = true;
    const giveUp = () => {
      if (!isHeld) return;
      isHeld = false;
      message.holders--;
      this.#held.set(machine, (this.#held.get(machine) ?? 1) - 1);
    };
    const again = (afterMs: number) => {
      if (message.isSettled || this.#waiting.includes(message)) return;
      simulation.after(afterMs, undefined, () => {
        if (!message.isSettled && !this.#waiting.includes(message)) this.#waiting.push(message);
      });
    };
    machine.onDeath(() => {
      if (isHeld) again(500);
      giveUp();
    });
    // Nobody has settled it in time: somebody else gets it, though this one may still have it. Brokers that promise
    // "at least once" do so earlier, too.
    const early = simulation.stream(`delivery ${message.number} ${message.deliveries}`);
    const isEarly = early.chance(0.5);
    const dueMs = isEarly ? early.fraction() * 20_000 : visibilityMs;
    const redelivery = simulation.after(dueMs, undefined, () => again(0));
    await simulation.delay(2, machine);
    const result = await simulation.within(machine, () => inbox.handleMessage(message.text));
    await simulation.delay(2, machine);
    redelivery.cancel();
    giveUp();
    simulation.log(`message ${message.number} of ${message.digest.slice(0, 8)}: ${result}`);
    if (result === 'retry') again(2_000);
    else if (!message.isSettled) {
      message.isSettled = true;
      this.#open--;
      if (result !== 'dead') return;
      this.dead.push(message);
      this.#world.count('a message was dead');
    }
  }
}
