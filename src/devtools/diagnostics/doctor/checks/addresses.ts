import type { TLSSocket } from 'node:tls';
import { bareHost, isLoopbackHost } from '../../../../deployment/base-url.ts';
import type { BaseUrlName } from '../../../../deployment/operations.ts';
import { DeadlineError, withDeadline } from '../../../../internal/deadline.ts';
import { type CheckResult, skipped } from '../../check-result.ts';
import { type Check, fail, notConnected, ok, unreachable, warning } from '../check.ts';
import type { DoctorContext } from '../doctor-context.ts';

/** Name, certificate and answer of one base URL. */
export function baseUrlChecks(id: string, name: BaseUrlName): readonly Check[] {
  return [
    {
      id: `${id}-name`,
      async run(context) {
        const url = urlOf(context, name);
        if (url === undefined) return skipped(`${name} is not set.`);
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
        return url === undefined ? skipped(`${name} is not set.`) : await examineTls(url, context);
      },
    },
    {
      id: `${id}-answer`,
      async run(context) {
        const asked = context.answerOf(name);
        if (asked === undefined) return skipped(`${name} is not set.`);
        const { answer } = await asked;
        const advice = `Is ${name} right, and can this machine reach it (proxy, firewall)?`;
        if (answer.kind === 'late') return unreachable(context, `No answer in ${answer.afterMs} ms.`, advice);
        if (answer.kind === 'closed') {
          const { reason } = answer;
          return notConnected(context, { reason, found: `No answer (${reason}).`, fix: advice });
        }
        const found = `GET is answered with ${answer.status}.`;
        return answer.status < 500 ? ok(found) : warning(found, 'The service is failing: ask its operator.');
      },
    },
  ];
}

function urlOf({ deployment }: DoctorContext, name: BaseUrlName): URL | undefined {
  const base = deployment?.[name];
  return base === undefined ? undefined : new URL(base);
}

const dayMs = 24 * 60 * 60 * 1000;
/** Certificates are usually renewed a month before they expire. */
const warnDays = 14;

export const callbackTls: Check = {
  id: 'callback-tls',
  async run(context) {
    const { callbackUrl } = context;
    return callbackUrl === undefined
      ? skipped('callbackUrl is not given.')
      : await examineTls(callbackUrl, context);
  },
};

/** Whether a server's certificate is trusted, and for how long. */
async function examineTls(url: URL, context: DoctorContext): Promise<CheckResult> {
  if (url.protocol === 'http:') {
    if (isLoopbackHost(url.hostname)) return skipped('http: on this machine needs no certificate.');
    return warning(
      `${url.host} is spoken to in http: what is sent can be read and changed on the way.`,
      'Use https.',
    );
  }
  const certificate = await readCertificate(url, context);
  if (certificate === undefined) return skipped('This runtime has no node:tls, which shows certificates.');
  if ('failure' in certificate) {
    const reason = certificate.failure;
    const found = `${url.host} cannot be reached (${reason}).`;
    return notConnected(context, { reason, found, fix: 'Is the URL right, and can this machine reach it?' });
  }
  const { problem, expiresAt } = certificate;
  const days = Math.floor((expiresAt - context.now()) / dayMs);
  if (problem !== undefined) {
    return fail(
      `The certificate of ${url.host} is not trusted (${problem}).`,
      'Renew it, send its whole chain, or trust its authority with NODE_EXTRA_CA_CERTS; never turn the check off.',
    );
  }
  if (days < 0) return fail(`The certificate of ${url.host} has expired.`, 'Renew it.');
  const found = `The certificate of ${url.host} is trusted, and expires in ${days} days.`;
  return days < warnDays
    ? warning(found, 'Renew it, and find out why that did not happen by itself.')
    : ok(found);
}

interface Certificate {
  /** Why it is not trusted, e.g. `CERT_HAS_EXPIRED`. */
  readonly problem: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

async function readCertificate(
  url: URL,
  { timeoutMs, signal, ca }: DoctorContext,
): Promise<Certificate | { readonly failure: string } | undefined> {
  const tls = process.getBuiltinModule?.('node:tls');
  const net = process.getBuiltinModule?.('node:net');
  if (tls === undefined || net === undefined) return undefined;
  const host = bareHost(url);
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  // Untrusted certificates are accepted to read them: nothing is sent, and the problem is reported.
  const trust = { rejectUnauthorized: false, ...(ca !== undefined && { ca }) };
  const socket = tls.connect({ host, port: Number(url.port) || 443, ...servername, ...trust });
  try {
    return await withDeadline({ ms: timeoutMs, signal }, () => certificateOf(socket));
  } catch (error) {
    if (error instanceof DeadlineError) return { failure: `no answer in ${timeoutMs} ms` };
    return { failure: codeOf(error) };
  } finally {
    socket.destroy();
  }
}

/** @returns a promise that rejects when the connection is not made */
function certificateOf(socket: TLSSocket): Promise<Certificate> {
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed')));
    socket.once('secureConnect', () => {
      const { authorizationError } = socket;
      const expiresAt = Date.parse(socket.getPeerCertificate().valid_to);
      resolve({ problem: socket.authorized ? undefined : codeOf(authorizationError), expiresAt });
    });
  });
}

/** Node types it as an error, and gives the code as text. */
function codeOf(error: unknown): string {
  if (typeof error === 'string') return error;
  return error instanceof Error && 'code' in error ? String(error.code) : 'closed';
}

const names: readonly BaseUrlName[] = ['onboardingBaseUrl', 'stagingUrl', 'messengerBaseUrl'];
/** An answer has whole seconds, and may come from a cache. */
const warnMs = 30_000;
const failMs = 300_000;

/** Compares this machine's clock with the Date of an answer. */
export const clockCheck: Check = {
  id: 'clock',
  async run({ answerOf }) {
    for (const name of names) {
      const asked = answerOf(name);
      if (asked === undefined) continue;
      const { answer, at } = await asked;
      const date = answer.kind === 'answered' ? Date.parse(answer.headers.get('date') ?? '') : Number.NaN;
      if (Number.isNaN(date)) continue;
      return judge(at - date, name);
    }
    return skipped('No base URL has told the time.');
  },
};

function judge(aheadMs: number, name: BaseUrlName) {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const found = `The clock is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} that of ${name}.`;
  const fix = 'Set it by NTP: certificates, one-time codes and leases depend on it.';
  if (Math.abs(aheadMs) >= failMs) return fail(found, fix);
  return Math.abs(aheadMs) >= warnMs ? warning(found, fix) : ok(found);
}
