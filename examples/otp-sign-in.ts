/** For a web server: sign in with a phone number, by a code over the messenger. Three pages, without a browser here. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, Server } from 'node:net';
import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { csrf } from 'hono/csrf';
import { html } from 'hono/html';
import { MessengerClient } from 'partner-exchange-sdk';
import { createOtp, isOtpError, isValidationError } from 'partner-exchange-sdk/otp';
import { createSandbox } from 'partner-exchange-sdk/sandbox';
import { memoryStore } from 'partner-exchange-sdk/store';

// In production: defineDeployment({ … }), and the API key of a paired device.
const sandbox = createSandbox({ numbersNotOnMessenger: ['+2348000000000'] });
const service = await sandbox.listen();
const messenger = new MessengerClient({ deployment: service.deployment, apiKey: await pairedDevice() });

const otp = createOtp({
  messenger,
  // In production: sqliteStore, redisStore or postgresStore. This one forgets all codes when the process ends.
  store: memoryStore(),
  // In production: from your secret store, the same in every process.
  secrets: [randomBytes(32)],
  allowedPrefixes: ['+234'],
  message: ({ code, minutes }) => `${code} is your code for Acme. It is valid for ${minutes} minutes.`,
  onOtp: ({ action, outcome, durationMs }) =>
    console.log(`${action}: ${outcome} (${durationMs.toFixed(0)} ms)`),
});
/** Who is signed in. In production: your sessions. */
const sessions = new Map<string, string>();
const purpose = 'sign-in';
/** In production with `secure: true`. */
const cookie = { httpOnly: true, sameSite: 'Lax', path: '/' } as const;

const app = new Hono();
app.use(csrf());
app.get('/', (context) => context.html(phonePage('')));

app.post('/code', async (context) => {
  const { phone } = await context.req.parseBody();
  const { id, resendAt } = await otp.issue({ to_phone: String(phone), purpose, ip: addressOf(context) });
  // In a cookie, so that the code works in this browser only.
  setCookie(context, 'otp', id, { ...cookie, maxAge: 3_600 });
  return context.html(codePage(`A new code can be sent at ${new Date(resendAt).toLocaleTimeString()}.`));
});

app.post('/again', async (context) => {
  await otp.resend(getCookie(context, 'otp') ?? '');
  return context.html(codePage('Another code is on its way. Earlier ones work too.'));
});

app.post('/session', async (context) => {
  const { code } = await context.req.parseBody();
  const id = getCookie(context, 'otp') ?? '';
  const checked = await otp.check(id, String(code), { purpose });
  if (!checked.ok) {
    const { reason, attemptsLeft } = checked;
    if (reason === 'not_valid') return context.html(phonePage('This code is no longer valid.'), 401);
    return context.html(codePage(`That is not the code. Tries left: ${attemptsLeft}.`), 401);
  }
  const session = randomBytes(16).toString('base64url');
  sessions.set(session, checked.to_phone);
  setCookie(context, 'session', session, cookie);
  return context.html(html`<p>You are signed in as ${checked.to_phone}.</p>`);
});

app.onError((error, context) => {
  if (isValidationError(error)) return context.html(phonePage('Please check what you typed.'), 400);
  if (!isOtpError(error)) throw error;
  const { code, retryAfterMs } = error;
  if (retryAfterMs !== undefined) context.header('retry-after', String(Math.ceil(retryAfterMs / 1000)));
  switch (code) {
    case 'cool_down':
    case 'limit_reached':
      return context.html(codePage('Please wait a while before you ask for another code.'), 429);
    case 'not_sent':
    case 'store_unavailable':
      return context.html(phonePage('We cannot send codes right now. Please try again.'), 503);
    case 'refused':
    case 'not_allowed':
      return context.html(phonePage('We cannot send a code to this number.'), 422);
  }
});

function addressOf(context: Context): string | undefined {
  // Behind a proxy of yours: what that proxy says, and nothing that a browser can send by itself.
  return getConnInfo(context).remote.address;
}

function phonePage(note: string) {
  return html`<!doctype html>
    <title>Sign in</title>
    <p>${note}</p>
    <form method="post" action="/code">
      <label>Phone number <input name="phone" type="tel" autocomplete="tel" placeholder="+234 …" required /></label>
      <button>Send me a code</button>
    </form>`;
}

function codePage(note: string) {
  return html`<!doctype html>
    <title>Your code</title>
    <p>${note}</p>
    <form method="post" action="/session">
      <label>Code <input name="code" inputmode="numeric" autocomplete="one-time-code" required /></label>
      <button>Sign in</button>
    </form>
    <form method="post" action="/again"><button>Send another code</button></form>`;
}

// What a person does in a browser.
const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
await once(server, 'listening');
if (!(server instanceof Server)) throw new Error('It does not listen.');
// Sound: it listens on a port, not on a pipe.
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const cookies = new Map<string, string>();
expectStatus(await post('/code', { phone: '0801 234 5678' }), 400);
expectStatus(await post('/code', { phone: '+1 415 555 2671' }), 422);
expectStatus(await post('/code', { phone: '+234 800 000 0000' }), 422);
expectStatus(await post('/code', { phone: '+234 801 234 5678' }), 200);
expectStatus(await post('/again', {}), 429);
const code = /\d{6}/.exec(sandbox.messages.at(-1)?.message ?? '')?.[0] ?? '';
expectStatus(await post('/session', { code: code === '000000' ? '111111' : '000000' }), 401);
expectStatus(await post('/session', { code: `${code.slice(0, 3)} ${code.slice(3)}` }), 200);
expectStatus(await post('/session', { code }), 401);
console.log('signed in:', sessions.get(cookies.get('session') ?? ''));
server.close();
await service.close();

async function post(path: string, form: Record<string, string>): Promise<Response> {
  const response = await fetch(origin + path, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: { origin, cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
  });
  for (const line of response.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    cookies.set(name, value);
  }
  console.log(path, response.status, /<p>(.*?)<\/p>/.exec(await response.text())?.[1]);
  return response;
}

function expectStatus({ status }: Response, expected: number): void {
  if (status !== expected) throw new Error(`Expected ${expected}, got ${status}.`);
}

/** Once for each device: its API key, paired. */
async function pairedDevice(): Promise<string> {
  const operator = new MessengerClient({ deployment: service.deployment, masterKey: sandbox.masterKey });
  const { body } = await operator.generateApiKey({ messenger_device_no: '1001' });
  // The sandbox's own choice of reply: with a real service, give the call a schema.
  const { api_key } = body as { api_key: string };
  await fetch(operator.scanDeviceUrl({ api_key }));
  return api_key;
}
