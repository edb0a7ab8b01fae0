import type { TraceEntry } from './api.ts';
import { attempt } from './store.ts';

/** Copies parts of a message. Keys in headers and addresses stay behind. */
export function CopyButtons({ message }: { message: TraceEntry }) {
  const { body = '', headers = {}, url, kind } = message;
  const isSent = (kind === 'request' || kind === 'event') && url !== undefined && URL.canParse(url);
  const texts = [
    { title: 'Copy body', text: body, isOffered: body !== '' },
    { title: 'Copy headers', text: headerText(headers), isOffered: Object.keys(headers).length > 0 },
    { title: 'Copy as curl', text: isSent ? curlCommand(message) : '', isOffered: isSent },
  ];
  return (
    <div class="buttons copy">
      {texts
        .filter(({ isOffered }) => isOffered)
        .map(({ title, text }) => (
          <button
            key={title}
            type="button"
            class="quiet"
            onClick={() => attempt(title.replace('Copy', 'Copied'), () => copy(text))}
          >
            {title}
          </button>
        ))}
    </div>
  );
}

/** Browsers have a clipboard on this machine and over HTTPS. */
export async function copy(text: string): Promise<void> {
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard === undefined)
    throw new Error('The browser copies only from a page on this machine, or over HTTPS.');
  await clipboard.writeText(text);
}

const secretName = /auth|cookie|credential|key|pass|pwd|secret|session|token/i;
const secretQuery = /([?&][^=&#]*(?:auth|key|pass|secret|token)[^=&#]*=)[^&#]*/gi;
/** A client writes these itself. */
const ownHeaders =
  /^(?:connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

function headerText(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${secretName.test(name) ? '[redacted]' : value}`)
    .join('\n');
}

/** A command for a POSIX shell. A secret header is a variable, which the user sets. */
function curlCommand({ method = 'POST', url = '', headers = {}, body = '' }: TraceEntry): string {
  const sent = Object.entries(headers).filter(([name]) => !ownHeaders.test(name));
  const options = sent.map(([name, value]) =>
    secretName.test(name) ? `-H "${name}: $${variableOf(name)}"` : `-H ${quoted(`${name}: ${value}`)}`,
  );
  const secrets = sent.filter(([name]) => secretName.test(name)).map(([name]) => variableOf(name));
  const parts = [
    `curl -sS -X ${method}`,
    ...options,
    ...(body === '' ? [] : [`--data-raw ${quoted(body)}`]),
    quoted(url.replace(secretQuery, '$1[redacted]')),
  ];
  const hint =
    secrets.length === 0 ? '' : `# Set ${secrets.join(', ')} first: the inspector copies no keys.\n`;
  return hint + parts.join(' \\\n  ');
}

const variableOf = (name: string) => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
