import { randomBytes } from 'node:crypto';
import type { BaseUrlName, Operation } from '../../../../deployment/operations.ts';
import { type CheckResult, skipped } from '../../check-result.ts';
import { postRequest } from '../../post-request.ts';
import { type Check, fail, ok, warning } from '../check.ts';
import type { DoctorContext } from '../doctor-context.ts';

/** An operation of each base URL whose path is published, and what the address is called. */
const known = {
  onboardingBaseUrl: { operation: 'onboard', service: 'onboarding' },
  stagingUrl: { operation: 'whitelistIp', service: 'whitelisting' },
  messengerBaseUrl: { operation: 'sendMessage', service: 'the messenger' },
} as const satisfies Record<BaseUrlName, { operation: Operation; service: string }>;

/** Whether the published path is below a base URL, or that of another base URL. Sends OPTIONS and GET without keys. */
export function baseUrlPath(id: string, name: BaseUrlName): Check {
  return {
    id: `${id}-path`,
    async run(context) {
      const base = context.deployment?.[name];
      if (base === undefined) return skipped(`${name} is not set.`);
      const other = others(name);
      const [own, random, ...foreign] = await Promise.all([
        isThere(context, base, pathOf(context, name)),
        isThere(context, base, `/${randomBytes(12).toString('hex')}`),
        ...other.map((each) => isThere(context, base, pathOf(context, each))),
      ]);
      if (own === undefined || random === undefined) return skipped('It gives no answer.');
      if (random) return skipped('Every path below it is answered: nothing shows whether it is right.');
      const path = pathOf(context, name);
      if (own) return ok(`${path} is there.`);
      const taken = other.find((_, index) => foreign[index] === true);
      return taken === undefined
        ? notThere(name, path)
        : swapped(name, { taken, path: pathOf(context, taken) });
    },
  };
}

function others(name: BaseUrlName): BaseUrlName[] {
  // Sound: these are the keys of the table.
  return (Object.keys(known) as BaseUrlName[]).filter((baseUrl) => baseUrl !== name);
}

function pathOf({ deployment }: DoctorContext, name: BaseUrlName): string {
  return deployment?.paths[known[name].operation] ?? '/';
}

/**
 * Asks with OPTIONS and GET, which do not act: some services answer 404 to one of them although the path is there.
 * `undefined` without an answer.
 */
async function isThere(
  { fetch, timeoutMs, signal }: DoctorContext,
  base: string,
  path: string,
): Promise<boolean | undefined> {
  for (const method of ['OPTIONS', 'GET']) {
    const request = { url: base + path, method, headers: { accept: 'application/json' } };
    const answer = await postRequest(request, { fetch, timeoutMs, signal });
    if (answer.kind !== 'answered') return undefined;
    if (answer.status !== 404 && answer.status !== 501) return true;
  }
  return false;
}

function notThere(name: BaseUrlName, path: string): CheckResult {
  return warning(
    `${path} below ${name} is answered with 404.`,
    `Is the path in ${name} right? Some services answer so to all but the call itself.`,
  );
}

function swapped(name: BaseUrlName, { taken, path }: { taken: BaseUrlName; path: string }): CheckResult {
  return fail(
    `${name} is the address of ${known[taken].service}: ${path} is there.`,
    `Set ${name} to the address of ${known[name].service}; this one belongs into ${taken}.`,
  );
}
