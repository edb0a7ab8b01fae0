import { bareHost, isLoopback } from '../../../deployment/base-url.ts';
import type { DoctorContext } from '../doctor-context.ts';
import { type Examination, type Found, fail, ok, skip, unreachable, warn } from '../examination.ts';
import { settledOr } from '../settled-or.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Certificates are usually renewed a month before they expire. */
const warnDays = 14;

export const callbackTls: Examination = {
  id: 'callback-tls',
  async run(context) {
    const { callbackUrl } = context;
    return callbackUrl === undefined
      ? skip('callbackUrl is not given.')
      : await examineTls(callbackUrl, context);
  },
};

/** Whether a server's certificate is trusted, and for how long. */
export async function examineTls(url: URL, context: DoctorContext): Promise<Found> {
  if (url.protocol === 'http:') {
    if (isLoopback(url.hostname)) return skip('http: on this machine needs no certificate.');
    return warn(
      `${url.host} is spoken to in http: what is sent can be read and changed on the way.`,
      'Use https.',
    );
  }
  const certificate = await readCertificate(url, context);
  if (certificate === undefined) return skip('This runtime has no node:tls, which shows certificates.');
  if ('failure' in certificate) {
    const found = `${url.host} cannot be reached (${certificate.failure}).`;
    return unreachable(context, found, 'Is the URL right, and can this machine reach it?');
  }
  const { problem, expiresAt } = certificate;
  const days = Math.floor((expiresAt - context.now()) / dayMs);
  if (problem !== undefined) {
    return fail(
      `The certificate of ${url.host} is not trusted (${problem}).`,
      'Renew it, send its whole chain, or trust its authority with NODE_EXTRA_CA_CERTS. Never turn the check off.',
    );
  }
  if (days < 0) return fail(`The certificate of ${url.host} has expired.`, 'Renew it.');
  const found = `The certificate of ${url.host} is trusted, and expires in ${days} days.`;
  return days < warnDays
    ? warn(found, 'Renew it, and find out why that did not happen by itself.')
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
  // Unchecked only to look at the certificate: nothing is sent, and what it lacks is reported.
  const trust = { rejectUnauthorized: false, ...(ca !== undefined && { ca }) };
  const socket = tls.connect({ host, port: Number(url.port) || 443, ...servername, ...trust });
  try {
    const connected = new Promise<Certificate>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('closed')));
      socket.once('secureConnect', () => {
        const { authorizationError } = socket;
        const expiresAt = Date.parse(socket.getPeerCertificate().valid_to);
        resolve({ problem: socket.authorized ? undefined : codeOf(authorizationError), expiresAt });
      });
    });
    return (await settledOr(connected, timeoutMs, signal)) ?? { failure: `no answer in ${timeoutMs} ms` };
  } catch (error) {
    return { failure: codeOf(error) };
  } finally {
    socket.destroy();
  }
}

/** Node types it as an error, and gives the code as text. */
function codeOf(error: unknown): string {
  if (typeof error === 'string') return error;
  return error instanceof Error && 'code' in error ? String(error.code) : 'closed';
}
