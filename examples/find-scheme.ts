/**
 * For a partner developer whose deployment signs in a way that no document tells: capture one event, find out how
 * it is signed, pin that, and be told later why a signature does not match.
 */
import { ExchangeClient } from 'partner-exchange-sdk';
import {
  checkPin,
  detectFromOracle,
  detectScheme,
  explainMismatch,
  pinScheme,
} from 'partner-exchange-sdk/diagnostics';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { signBody, verifyBody } from 'partner-exchange-sdk/signature';

// A service with an unusual rule. Nothing below knows of it.
const secretRule = { construction: 'hash-suffix', serialization: 'php', encoding: 'base64' } as const;
const sandbox = createSandbox({ signature: secretRule, whitelist: 'off', fetch: async () => new Response() });
const { deployment, close } = await sandbox.listen();
await new ExchangeClient({ deployment }).onboard({ partner_code: 'acme', email: 'dev@acme.example' });
const credentials = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
await new ExchangeClient({ deployment, credentials }).createOrder({
  partner_order_id: 'A-1001',
  fiat_amount: '15000.50',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: 'https://partner.example/orders',
});
await sandbox.idle();
await close();

// 1. Capture one event, raw: the text or bytes as received, before any body parser.
const captured = sandbox.deliveries.at(-1)?.body ?? '';
say('captured', `${captured.length} characters of ${sandbox.deliveries.at(-1)?.name}`);

// 2. Why does it not verify as it is configured now?
const { findings, nextStep } = explainMismatch(captured, { credentials });
for (const { code, message } of findings) say(code, message);
say('next step', nextStep);

// 3. Find the rule, offline.
const detection = detectScheme(captured, credentials);
say(detection.verdict, detection.message);
for (const { scheme, notes } of detection.survivors) {
  say('fits', JSON.stringify(scheme));
  for (const { code, message } of notes) say(`  ${code}`, message);
}
const scheme = detection.survivors[0]?.scheme;
if (scheme === undefined) throw new Error('No scheme was found.');

// The same from a signing endpoint, without showing it a real secret. This one stands for the endpoint.
const endpoint = ({ body, secret }: { body: string; secret: string }) =>
  signBody(JSON.parse(body), { key: secret, scheme: { ...secretRule, serialization: 'compact' } }).signature;
const asked = await detectFromOracle(endpoint);
say(`oracle: ${asked.verdict}`, JSON.stringify(asked.survivors[0]?.scheme));

// 4. Pin it: keep this file in your repository …
const file = JSON.stringify(pinScheme({ scheme, samples: captured, credentials }), null, 2);
say('pinned', `${file.length} characters of JSON, without any key`);
// … and check it in a test. It throws when the sender begins to sign in another way.
const pinned = checkPin(JSON.parse(file), { credentials, samples: captured });
say('pin holds', `${pinned.fixtures} fixture, ${pinned.samples} sample`);

// 5. From now on: defineDeployment({ signature: pinned.scheme, … }).
const key = credentials.merchantSecretKey + credentials.partnerSecretKey;
const { value } = verifyBody(captured, { key, scheme: pinned.scheme });
say('verified', `${value.event_name} ${value.partner_order_id}`);

// 6. A secret that was read from a file together with its line break.
const padded = { ...credentials, partnerSecretKey: `${credentials.partnerSecretKey}\n` };
const { merchantSecretKey } = credentials;
const why = explainMismatch(captured, { secrets: { ...padded, merchantSecretKey }, scheme });
for (const finding of why.findings) say(finding.code, finding.message);
say('next step', why.nextStep);

function say(what: string, detail: string): void {
  console.log(`${what.padEnd(20)} ${detail}`);
}
