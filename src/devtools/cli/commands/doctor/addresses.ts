import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { bareHost, isLoopbackHost } from '../../../../deployment/base-url.ts';
import type { BaseUrlName, Operation } from '../../../../deployment/operations.ts';
import { codeOf } from '../../../../errors/errors.ts';
import { withDeadline } from '../../../../internal/deadline.ts';
import {
  broken,
  ok,
  type Result,
  type Surroundings,
  skippedCheck,
  unreachable,
  weak,
  withoutAnswer,
} from './surroundings.ts';

/** An operation of each base URL whose path is published, and what the address is called. */
const baseUrls = {
  onboardingBaseUrl: { operation: 'onboard', service: 'onboarding' },
  stagingUrl: { operation: 'whitelistIp', service: 'whitelisting' },
  messengerBaseUrl: { operation: 'sendMessage', service: 'the messenger' },
} as const satisfies Record<BaseUrlName, { operation: Operation; service: string }>;

/** Name, certificate, answer and path of a base URL, as far as each shows more than the one before it. */
export async function examineBaseUrl(name: BaseUrlName, surroundings: Surroundings): Promise<Result[]> {
  const base = surroundings.deployment?.[name];
  const asked = surroundings.answerOf(name);
  if (base === undefined || asked === undefined) return [skippedCheck('The address is not set.')];
  const url = new URL(base);
  const addresses = await surroundings.addressesOf(bareHost(url));
  if ('failure' in addresses) {
    const what = `${url.hostname} does not resolve (${addresses.failure}).`;
    return [unreachable(surroundings, what, `Is ${name} spelled right, and is this machine online?`)];
  }
  const certificate = await examineCertificate(url, surroundings);
  if (certificate?.verdict === 'broken') return [certificate];
  const { answer } = await asked;
  if (answer.kind !== 'answered') return [withoutAnswer(surroundings, answer, url.host)];
  const results = [
    ...(certificate === undefined ? [] : [certificate]),
    answer.status < 500
      ? ok(`GET is answered with ${answer.status}.`)
      : weak(`GET is answered with ${answer.status}.`, 'The service is failing: ask its operator.'),
    await examinePath(base, name, surroundings),
  ];
  const problems = results.filter(({ verdict }) => verdict === 'weak' || verdict === 'broken');
  return problems.length > 0
    ? problems
    : [ok([`${url.hostname} is ${addresses.join(', ')}.`, ...results.map(({ what }) => what)].join(' '))];
}

/** Whether the published path is below a base URL, or that of another service. Sends OPTIONS and GET without keys. */
async function examinePath(base: string, name: BaseUrlName, surroundings: Surroundings): Promise<Result> {
  // Sound: these are the keys of the table.
  const others = (Object.keys(baseUrls) as BaseUrlName[]).filter((other) => other !== name);
  const pathOf = (of: BaseUrlName) => surroundings.deployment?.paths[baseUrls[of].operation] ?? '/';
  const [own, random, ...foreign] = await Promise.all([
    isThere(surroundings, base + pathOf(name)),
    isThere(surroundings, `${base}/${randomBytes(12).toString('hex')}`),
    ...others.map((other) => isThere(surroundings, base + pathOf(other))),
  ]);
  if (own === undefined || random === undefined)
    return skippedCheck('Nothing shows whether its path is right.');
  if (random) return skippedCheck('Every path below it is answered: nothing shows whether it is right.');
  if (own) return ok(`${pathOf(name)} is there.`);
  const taken = others.find((_, index) => foreign[index] === true);
  if (taken === undefined) {
    return weak(
      `${pathOf(name)} below ${name} is answered with 404.`,
      `Is the path in ${name} right? Some services answer so to all but the call itself.`,
    );
  }
  return broken(
    `${name} is the address of ${baseUrls[taken].service}: ${pathOf(taken)} is there.`,
    `Set ${name} to the address of ${baseUrls[name].service}; this one belongs into ${taken}.`,
  );
}

/**
 * Asks with OPTIONS and GET, which do not act: some services answer 404 to one of them although the path is there.
 * `undefined` without an answer.
 */
async function isThere({ ask }: Surroundings, url: string): Promise<boolean | undefined> {
  for (const method of ['OPTIONS', 'GET']) {
    const answer = await ask(url, method);
    if (answer.kind !== 'answered') return undefined;
    if (answer.status !== 404 && answer.status !== 501) return true;
  }
  return false;
}

const dayMs = 24 * 60 * 60 * 1000;
/** Certificates are usually renewed a month before they expire. */
const warnDays = 14;

/** Whether a server's certificate is trusted, and for how long; `undefined` where there is none. */
export async function examineCertificate(url: URL, surroundings: Surroundings): Promise<Result | undefined> {
  if (url.protocol === 'http:') {
    if (isLoopbackHost(url.hostname)) return undefined;
    const what = `${url.host} is spoken to in http: what is sent can be read and changed on the way.`;
    return weak(what, 'Use https.');
  }
  const certificate = await readCertificate(url, surroundings);
  // The request fails for the same reason, and says so.
  if (certificate === undefined) return undefined;
  const { problem, expiresAt } = certificate;
  if (problem !== undefined) {
    return broken(
      `The certificate of ${url.host} is not trusted (${problem}).`,
      'Renew it, send its whole chain, or trust its authority with NODE_EXTRA_CA_CERTS; never turn the check off.',
    );
  }
  const days = Math.floor((expiresAt - surroundings.now()) / dayMs);
  if (days < 0) return broken(`The certificate of ${url.host} has expired.`, 'Renew it.');
  const what = `Its certificate is trusted, and expires in ${days} days.`;
  return days < warnDays ? weak(what, 'Renew it, and find out why that did not happen by itself.') : ok(what);
}

interface Certificate {
  /** Why it is not trusted, e.g. `CERT_HAS_EXPIRED`. */
  readonly problem: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** `undefined` if no connection is made. */
async function readCertificate(
  url: URL,
  { timeoutMs, signal, ca }: Surroundings,
): Promise<Certificate | undefined> {
  const host = bareHost(url);
  const servername = isIP(host) === 0 ? { servername: host } : {};
  // Untrusted certificates are accepted to read them: nothing is sent, and the problem is reported.
  const trust = { rejectUnauthorized: false, ...(ca !== undefined && { ca }) };
  const socket = connect({ host, port: Number(url.port) || 443, ...servername, ...trust });
  try {
    return await withDeadline({ ms: timeoutMs, signal }, () => certificateOf(socket));
  } catch {
    signal.throwIfAborted();
    return undefined;
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
      // Node types it as an error, and gives the code as text.
      const { authorized } = socket;
      const reason: unknown = socket.authorizationError;
      const expiresAt = Date.parse(socket.getPeerCertificate().valid_to);
      resolve({
        problem: authorized ? undefined : typeof reason === 'string' ? reason : codeOf(reason),
        expiresAt,
      });
    });
  });
}

/** An answer has whole seconds, and may come from a cache. */
const warnMs = 30_000;
const failMs = 300_000;

/** Compares this machine's clock with the Date of an answer. */
export async function examineClock({ answerOf }: Surroundings): Promise<Result[]> {
  for (const name of ['onboardingBaseUrl', 'stagingUrl', 'messengerBaseUrl'] as const) {
    const { answer, at } = (await answerOf(name)) ?? {};
    const date = answer?.kind === 'answered' ? Date.parse(answer.headers.get('date') ?? '') : Number.NaN;
    if (at === undefined || Number.isNaN(date)) continue;
    const seconds = Math.round(Math.abs(at - date) / 1000);
    const what = `The clock is ${seconds} s ${at < date ? 'behind' : 'ahead of'} that of ${name}.`;
    const advice = 'Set it by NTP: certificates, one-time codes and leases depend on it.';
    if (Math.abs(at - date) >= failMs) return [broken(what, advice)];
    return [Math.abs(at - date) >= warnMs ? weak(what, advice) : ok(what)];
  }
  return [skippedCheck('No address has told the time.')];
}
