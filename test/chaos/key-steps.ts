import { isKeyError, isRequestError } from '../../src/errors/errors.ts';
import { during, partner, pickProcess, type World } from './world.ts';

/** The next step of a rotation of the keys, as a person takes it who reads the mails. */
export async function rotate(world: World): Promise<void> {
  if (world.plan.keys === 'static') return;
  if (await takeKeys(world)) return;
  const { rotation } = pickProcess(world);
  const { step } = await rotation.status();
  if (step === 'received') await rotation.promote();
  else {
    // No mail has come, so another one is asked for.
    const again = step !== 'idle';
    await during(world, rotation.request(partner, { again })).catch((error: unknown) => {
      if (!isRequestError(error) && !isKeyError(error)) throw error;
    });
  }
}

/** Ends a rotation that is under way. */
export async function endRotation(world: World): Promise<void> {
  if (world.plan.keys === 'static') return;
  await takeKeys(world);
  const { rotation } = pickProcess(world);
  if ((await rotation.status()).step === 'received') await rotation.promote();
}

/** Opens the newest link, if nobody has, and stores what is behind it. */
async function takeKeys(world: World): Promise<boolean> {
  const { sandbox, openedMails } = world;
  const mail = sandbox.emails.at(-1);
  if (mail === undefined || openedMails.has(mail.link)) return false;
  openedMails.add(mail.link);
  await pickProcess(world).rotation.receive(sandbox.openLink(mail.link));
  return true;
}
