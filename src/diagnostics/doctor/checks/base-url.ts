import { bareHost } from '../../../deployment/base-url.ts';
import type { BaseUrlName } from '../../../deployment/operations.ts';
import type { DoctorContext } from '../doctor-context.ts';
import { type Examination, ok, skip, unreachable, warn } from '../examination.ts';
import { examineTls } from './tls.ts';

/** Name, certificate and answer of one base URL. */
export function baseUrlExaminations(id: string, name: BaseUrlName): readonly Examination[] {
  return [
    {
      id: `${id}-name`,
      async run(context) {
        const url = urlOf(context, name);
        if (url === undefined) return skip(`${name} is not set.`);
        const addresses = await context.addressesOf(bareHost(url));
        if ('failure' in addresses) {
          const found = `${url.hostname} does not resolve (${addresses.failure}).`;
          return unreachable(context, found, `Is ${name} spelled right, and is this machine online?`);
        }
        return ok(`${url.hostname} resolves to ${addresses.join(', ')}.`);
      },
    },
    {
      id: `${id}-tls`,
      async run(context) {
        const url = urlOf(context, name);
        return url === undefined ? skip(`${name} is not set.`) : await examineTls(url, context);
      },
    },
    {
      id: `${id}-answer`,
      async run(context) {
        const asked = context.answerOf(name);
        if (asked === undefined) return skip(`${name} is not set.`);
        const { answer } = await asked;
        const advice = `Is ${name} right, and can this machine reach it (proxy, firewall)?`;
        if (answer.kind === 'late') return unreachable(context, `No answer in ${answer.afterMs} ms.`, advice);
        if (answer.kind === 'closed') return unreachable(context, `No answer (${answer.reason}).`, advice);
        const found = `GET is answered with ${answer.status}.`;
        return answer.status < 500 ? ok(found) : warn(found, 'The service is failing: ask its operator.');
      },
    },
  ];
}

function urlOf({ deployment }: DoctorContext, name: BaseUrlName): URL | undefined {
  const base = deployment?.[name];
  return base === undefined ? undefined : new URL(base);
}
