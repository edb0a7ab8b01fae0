import type { SeededRandom } from '../../src/devtools/sandbox/settings/seeded-random.ts';
import { checkCode, issueCode, resendCode } from './code-steps.ts';
import { nameKeys, rotate } from './key-steps.ts';
import {
  copyEvent,
  createAgain,
  createChanged,
  createMisdirected,
  createNew,
  decide,
  goOn,
  prepare,
} from './order-steps.ts';
import type { StepName } from './plan.ts';
import {
  breakDown,
  jumpClock,
  killOne,
  replayDead,
  restartOne,
  sleepOne,
  stallOne,
} from './process-steps.ts';
import type { World } from './world.ts';

/** Something that somebody does, while everything else goes on. */
export type Step = (world: World, random: SeededRandom) => Promise<void> | void;

export const steps: Readonly<Record<StepName, Step>> = {
  ...{ createNew, createAgain, createChanged, createMisdirected, prepare, goOn, copyEvent, decide },
  ...{ issueCode, resendCode, checkCode, rotate, nameKeys },
  ...{ killOne, restartOne, stallOne, sleepOne, jumpClock, breakDown, replayDead },
};
