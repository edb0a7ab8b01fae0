import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import type { ListenOptions, Sandbox, SandboxServer } from '../../../src/devtools/sandbox/sandbox.ts';
import { onboarded, place, post, refusal } from './support.ts';

async function serve(sandbox: Sandbox, options?: ListenOptions): Promise<SandboxServer> {
  const server = await sandbox.listen(options);
  onTestFinished(() => server.close());
  return server;
}

/** Sends text as it is and gives what comes back until the connection ends. */
function raw(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

describe('the server', () => {
  it('answers 413 to a long body and goes on with the connection', async () => {
    const { deployment, url } = await serve(createSandbox());
    const line = { fetch, deployment };
    const size = 10_000_000;
    expect(await refusal(post(line, 'whitelistIp', 'x'.repeat(size)))).toEqual([413, 'body_too_large']);
    const { pathname } = new URL(deployment.stagingUrl + deployment.paths.whitelistIp);
    const head = `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\n`;
    const chunk = 'y'.repeat(1_100_000);
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`;
    const answer = await raw(url, `${chunked}${head}Connection: close\r\nContent-Length: 1\r\n\r\nz`);
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  it('puts links at the host that the caller used, where that is one of its own', async () => {
    const sandbox = createSandbox();
    const { deployment, url } = await serve(sandbox, { allowedHosts: ['sandbox.test'] });
    const { port } = new URL(url);
    const { pathname } = new URL(deployment.onboardingBaseUrl + deployment.paths.onboard);
    for (const [index, host] of ['sandbox.test:8080', `localhost:${port}`].entries()) {
      const body = JSON.stringify({ partner_code: `p${index}`, email: 'a@b.example' });
      const head = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n`;
      const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
      expect(await raw(url, head + type + body)).toContain('HTTP/1.1 200');
    }
    const origins = sandbox.emails.map(({ link }) => new URL(link).origin);
    expect(origins).toEqual(['http://sandbox.test:8080', `http://localhost:${port}`]);
  });

  it.each([
    ['a name that is not its own', 'Host: attacker.example'],
    ['no name', 'Host:'],
    ['a web page of another origin', 'Host: localhost\r\nOrigin: https://attacker.example'],
    ['a web page on another port of the machine', 'Host: localhost:1\r\nOrigin: http://localhost:2'],
  ])('refuses a request by %s, and does nothing', async (_, headers) => {
    const sandbox = createSandbox();
    const { deployment, url } = await serve(sandbox);
    const { pathname } = new URL(deployment.stagingUrl + deployment.paths.whitelistIp);
    const answer = await raw(
      url,
      `POST ${pathname} HTTP/1.1\r\n${headers}\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx`,
    );
    expect(answer).toContain('HTTP/1.1 403');
    expect(answer).toContain('host_not_allowed');
    expect(answer).toContain('name it in allowedHosts of listen(), or with --allow-host.');
    expect(sandbox.whitelistedIps).toEqual([]);
  });

  it('answers 400 to what is no request of the web platform, and 405 to HEAD without a body', async () => {
    const { url } = await serve(createSandbox());
    const end = 'HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    expect(await raw(url, `TRACE / ${end}`)).toContain('HTTP/1.1 400');
    expect(await raw(url, `GET http://x/ ${end}`)).toContain('HTTP/1.1 400');
    expect(await raw(url, `OPTIONS * ${end}`)).toContain('HTTP/1.1 400');
    const head = await raw(url, `HEAD /messenger/connect-msg/scan-device ${end}`);
    expect(head).toContain('HTTP/1.1 405');
    expect(head).not.toContain('method_not_allowed');
  });

  it('outlives a caller that hangs up in the middle of a body', async () => {
    const { url } = await serve(createSandbox());
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
      socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf', () =>
        socket.destroy(),
      ),
    );
    await new Promise((resolve) => socket.on('close', resolve));
    expect((await fetch(url)).status).toBe(404);
  });

  it('listens where it is told, IPv6 included, and says when it cannot', async () => {
    const sandbox = createSandbox();
    const any = await serve(sandbox, { host: '0.0.0.0' });
    expect(any.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const port = Number(new URL(any.url).port);
    await expect(sandbox.listen({ port, host: '0.0.0.0' })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    const six = await serve(sandbox, { host: '::1' }).catch(() => undefined);
    // A machine without IPv6 has nothing to show here.
    if (six === undefined) return;
    expect(six.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    const capture = six.deployment.stagingUrl + six.deployment.paths.whitelistIp;
    expect((await fetch(capture, { method: 'POST' })).status).toBe(200);
    expect(sandbox.whitelistedIps).toEqual(['::1']);
  });

  it('closes for good, at once though a connection is kept open, and as often as asked', async () => {
    const sandbox = createSandbox();
    const server = await sandbox.listen();
    const url = server.deployment.stagingUrl + server.deployment.paths.whitelistIp;
    await fetch(url, { method: 'POST' });
    const idle = connect(Number(new URL(server.url).port), '127.0.0.1');
    await new Promise((resolve) => idle.on('connect', resolve));
    idle.on('error', () => {});
    const ended = new Promise((resolve) => idle.on('close', resolve));
    await Promise.all([server.close(), server.close()]);
    await ended;
    await expect(fetch(url, { method: 'POST' })).rejects.toThrow();
    const again = await serve(sandbox);
    expect(again.url).toMatch(/^http:/);
  });

  it('closes only when the events under way are answered', async () => {
    const answered = Promise.withResolvers<Response>();
    const sandbox = createSandbox({ fetch: () => answered.promise });
    const server = await sandbox.listen();
    const line = { fetch, deployment: server.deployment };
    await place(line, await onboarded(sandbox, line));
    const steps: string[] = [];
    const closed = server.close().then(() => steps.push('closed'));
    await expect(fetch(server.url)).rejects.toThrow();
    steps.push('answered');
    answered.resolve(new Response());
    await closed;
    expect(steps).toEqual(['answered', 'closed']);
  });
});
