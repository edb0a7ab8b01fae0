import { isKeyError, isRequestError, isStoreError } from '../../src/errors/errors.ts';
import type { Step, World } from './world.ts';

/** The next step of a rotation of the keys, as a person takes it who reads the mails. */
export const rotate: Step = async (world, random) => {
  await nextOfRotation(world, { asks: true, process: world.pick(random) });
};

/** Ends a rotation that is under way; true when nothing is left of it. */
export async function endRotation(world: World): Promise<boolean> {
  if (world.plan.keys !== 'ring') return true;
  const process = world.pick();
  // Orders that waited for keys are sent before the next turn.
  if (await nextOfRotation(world, { asks: false, process })) return false;
  if (process === undefined || world.openedKeys.length > 0) return false;
  const mail = world.sandbox.emails.at(-1);
  if (mail !== undefined && !world.openedMails.has(mail.link)) return false;
  const status = await world.simulation
    .within(process.machine, () => process.partners.a.rotation.status())
    .catch(() => undefined);
  return status?.step === (world.plan.promotes ? 'idle' : 'received') || status?.step === 'idle';
}

/** Whether it did something. */
async function nextOfRotation(
  world: World,
  { asks, process }: { asks: boolean; process: ReturnType<World['pick']> },
): Promise<boolean> {
  const { sandbox, openedMails, openedKeys, plan, simulation, books } = world;
  if (plan.keys !== 'ring' || process === undefined) return false;
  const { rotation, ring } = process.partners.a;
  const mail = sandbox.emails.at(-1);
  if (mail !== undefined && !openedMails.has(mail.link)) {
    openedMails.add(mail.link);
    // From now on only the person who opened it has these keys.
    openedKeys.push(simulation.within(world.service, () => sandbox.openLink(mail.link)));
    simulation.log('a link is opened');
  }
  try {
    return await simulation.within(process.machine, async () => {
      const [keys] = openedKeys;
      if (keys !== undefined) {
        await rotation.receive(keys).catch((error: unknown) => {
          // The store had them, although it reported a failure.
          if (!isKeyError(error) || error.code !== 'keys_known') throw error;
        });
        if (openedKeys[0] === keys) openedKeys.shift();
        books.receivedKeys.add(keys.partnerPublicKey);
        await ring.reload().catch(() => {});
        return true;
      }
      const { step } = await rotation.status();
      simulation.log(`the rotation is ${step}`);
      if (step === 'received') {
        if (!plan.promotes) return false;
        await rotation.promote();
        await ring.reload().catch(() => {});
        return true;
      }
      if (asks || step !== 'idle') {
        // No mail has come, so another one is asked for.
        const partner = { email: 'partner@sandbox.example', partner_code: world.credentials.a.partnerCode };
        await rotation.request(partner, { again: step !== 'idle' });
        return true;
      }
      return false;
    });
  } catch (error) {
    if (!isRequestError(error) && !isKeyError(error) && !isStoreError(error)) throw error;
    return true;
  }
}

/** The partner's name is added to keys that had none: the same keys, received again. */
export const nameKeys: Step = async (world, random) => {
  const { plan, simulation, books } = world;
  const process = world.pick(random);
  if (!plan.isNameless || process === undefined || books.receivedKeys.size > 0) return;
  try {
    await simulation.within(process.machine, async () => {
      const { rotation, ring } = process.partners.a;
      const { step } = await rotation.status();
      if (step !== 'idle') return;
      await rotation.receive(world.credentials.a);
      await rotation.promote();
      await ring.reload().catch(() => {});
      world.count('a name became known between two generations');
    });
  } catch (error) {
    if (!isKeyError(error) && !isStoreError(error)) throw error;
  }
};
