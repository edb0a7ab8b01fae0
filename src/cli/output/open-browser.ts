/** Opens an address in the user's browser. Rejects if there is no program for that. */
export async function openBrowser(url: string, platform: NodeJS.Platform): Promise<void> {
  const { spawn } = await import('node:child_process');
  const [command, ...args] = openers[platform] ?? ['xdg-open'];
  await new Promise<void>((resolve, reject) => {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
    child.once('error', reject);
    child.once('spawn', () => {
      child.unref();
      resolve();
    });
  });
}

/** `start` is no program, and would take a quoted address for a title; `rundll32` takes the address as it is. */
const openers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
