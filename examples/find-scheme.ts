/**
 * For a partner developer whose deployment signs in a way that no document tells: capture one event, learn how it is
 * signed, keep that in a deployment file, and be told later why a signature does not match.
 */
import { defineDeployment, ExchangeClient } from 'partner-exchange-sdk';
import { explainMismatch, learn } from 'partner-exchange-sdk/diagnostics';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { signBody, verifyBody } from 'partner-exchange-sdk/signature';

// A service with an unusual rule. Nothing below knows of it.
const secretRule = { construction: 'hash-suffix', serialization: 'php', encoding: 'base64' } as const;
const sandbox = createSandbox({
  deployment: { signature: secretRule },
  whitelist: 'off',
  fetch: async () => new Response(),
});
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
const { findings } = explainMismatch(captured, { credentials });
for (const { id, what, advice } of findings) say(id, `${what} ${advice}`);

// 3. Learn the rule, offline.
const learnt = await learn({ deliveries: [{ body: captured }], credentials });
for (const { id, verdict, found } of learnt.rows) {
  if (id.startsWith('signature-')) say(id, `${verdict} ${found.join()}`);
}
for (const { id, what } of learnt.findings) say(`  ${id}`, what);
if (learnt.deployment.signature === undefined) throw new Error('No scheme was found.');

// The same from a signing endpoint, without showing it a real secret. This one stands for the endpoint.
const oracle = ({ body, secret }: { body: string; secret: string }) =>
  signBody(JSON.parse(body), { key: secret, scheme: { ...secretRule, serialization: 'compact' } }).signature;
const asked = await learn({ oracle });
say('oracle', JSON.stringify(asked.deployment.signature));

// 4. Keep the file in your repository …
const file = JSON.parse(JSON.stringify(learnt.file));
const known = defineDeployment({ learnt: file });
say('deployment file', JSON.stringify(known.signature));
// … and check it against later events: nothing is refuted while the service signs as it did.
const later = await learn({ deliveries: [{ body: captured }], credentials, deployment: known });
say('refuted later', `${later.rows.filter(({ verdict }) => verdict === 'refuted').length} rows`);

// 5. From now on bodies verify under it.
const key = credentials.merchantSecretKey + credentials.partnerSecretKey;
const { value } = verifyBody(captured, { key, scheme: known.signature });
say('verified', `${value.event_name} ${value.partner_order_id}`);

// 6. A secret that was read from a file together with its line break.
const padded = {
  partnerSecretKey: `${credentials.partnerSecretKey}\n`,
  merchantSecretKey: credentials.merchantSecretKey,
};
const why = explainMismatch(captured, { credentials: padded, scheme: known.signature });
for (const { id, what, advice } of why.findings) say(id, `${what} ${advice}`);

function say(what: string, detail: string): void {
  console.log(`${what.padEnd(20)} ${detail}`);
}
