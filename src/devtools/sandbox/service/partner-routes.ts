import * as z from 'zod';
import type { Deployment } from '../../../deployment/define-deployment.ts';
import { findMembers } from '../../../internal/json-scanner.ts';
import { writeSignature } from '../../../signature/digest.ts';
import { canonicalText } from '../../../signature/serializations.ts';
import { decodeBody, removeSignature } from '../../../signature/signed-body.ts';
import {
  jsonReply,
  parseBody,
  parseWith,
  Refusal,
  readSignedBody,
  refuseSignatureErrors,
} from '../wire/requests.ts';
import { linkPath, type Partner } from '../world/partner-registry.ts';
import type { SandboxState } from '../world/state.ts';
import type { OperationHandlers, Route, RoutedRequest } from './service.ts';

const onboarding = z.object({
  partner_code: z.string().min(1),
  email: z.string().regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address'),
});

/** Endpoints 1 to 3 of the contract. */
export const partnerHandlers = {
  onboard: { content: 'json', handle: onboard },
  whitelistIp: { content: 'any', handle: whitelistIp },
  regenerateKeys: { content: 'json', handle: regenerateKeys },
} satisfies Partial<OperationHandlers>;

export const linkRoute: Route = {
  operation: 'openLink',
  method: 'GET',
  path: `${linkPath}{token}`,
  content: 'none',
  handle: ({ partners }, { url }) => jsonReply(200, { ...partners.open(partners.tokenOf(url)) }),
};

export function requirePartner({ partners }: SandboxState, request: Request): Partner {
  const [, publicKey] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
  const challenge = { 'www-authenticate': 'Bearer' };
  if (publicKey === undefined) {
    const message = 'The Authorization header must be "Bearer" and the partner public key.';
    throw new Refusal(401, 'bearer_missing', message, challenge);
  }
  const partner = partners.byPublicKey(publicKey);
  if (partner === undefined) {
    const message = 'The public key is not valid: never issued, not revealed yet, or regenerated since.';
    throw new Refusal(401, 'unknown_public_key', message, challenge);
  }
  return partner;
}

async function onboard(state: SandboxState, { body, url }: RoutedRequest): Promise<Response> {
  const { partner_code, email } = await parseWith(onboarding, parseBody(body), 'invalid_body');
  state.partners.onboard(partner_code, email, url.origin);
  return jsonReply(200, { message: 'A one-time link was sent to the e-mail address.' });
}

function whitelistIp(state: SandboxState, { ip }: RoutedRequest): Response {
  state.whitelist.add(ip);
  return jsonReply(200, { ip, message: 'This IP is whitelisted.' });
}

async function regenerateKeys(state: SandboxState, { body, request, url }: RoutedRequest): Promise<Response> {
  const partner = requirePartner(state, request);
  const key = partner.credentials.partnerSecretKey;
  const { body: signed } = readSignedBody(body, key, state.deployment.signature);
  const { partner_code, email } = await parseWith(onboarding, signed, 'invalid_body');
  if (partner_code !== partner.partnerCode || email !== partner.email) {
    throw new Refusal(
      400,
      'partner_mismatch',
      'The partner_code or the email is not that of the onboarding.',
    );
  }
  state.partners.sendReset(partner, url.origin);
  return jsonReply(200, { message: 'A one-time reset link was sent to the e-mail address.' });
}

/** The path below the onboarding base URL (reported). */
const signRequestPath = '/api/v1/no-auth/PartnerP2P/SignRequestSha512/';

/**
 * The reported endpoint that signs the other members of a body with its `secret`. The reply `{ signature }` is the
 * sandbox's choice.
 */
export function signRequestRoute({ onboardingBaseUrl }: Deployment<unknown>): Route {
  const path = new URL(onboardingBaseUrl + signRequestPath).pathname;
  return { operation: 'signRequest', method: 'POST', path, content: 'json', handle: signRequest };
}

function signRequest({ deployment }: SandboxState, { body }: RoutedRequest): Response {
  const { secret, ...value } = parseBody(body);
  if (typeof secret !== 'string' || secret === '') {
    throw new Refusal(400, 'invalid_body', 'The body does not fit: secret: must be text.');
  }
  const scheme = deployment.signature;
  const unsignedText = refuseSignatureErrors(() => withoutSecret(decodeBody(body)));
  const signed = refuseSignatureErrors(() => canonicalText(scheme, { json: unsignedText, value }));
  return jsonReply(200, { signature: writeSignature(scheme, secret, signed) });
}

function withoutSecret(text: string): string {
  const [member] = findMembers(text, 'secret');
  if (member === undefined) return text;
  // `removeSignature` cuts out one member exactly, so the secret is renamed to it.
  return removeSignature(`${text.slice(0, member.start)}"signature":${text.slice(member.value.start)}`);
}
