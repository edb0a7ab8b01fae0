import type { ListedEntry } from './api.ts';
import { attempt } from './store.ts';

/** Copies parts of a message. Keys in headers and addresses stay behind. */
export function CopyButtons({ message }: { message: ListedEntry }) {
  const { body = '', headers = {}, url, kind } = message;
  const isSent = (kind === 'request' || kind === 'event') && url !== undefined && URL.canParse(url);
  const texts = [
    { title: 'Copy body', text: body, lacks: bytesLost(message), isOffered: body !== '' },
    { title: 'Copy headers', ...headerText(headers), isOffered: Object.keys(headers).length > 0 },
    { title: 'Copy as curl', ...(isSent ? curlCommand(message) : noText), isOffered: isSent },
  ];
  return (
    <div class="buttons copy">
      {texts
        .filter(({ isOffered }) => isOffered)
        .map(({ title, text, lacks }) => (
          <button
            key={title}
            type="button"
            class="quiet"
            onClick={() =>
              attempt(title.replace('Copy', 'Copied'), async () => {
                await copy(text);
                return lacks.length === 0 ? undefined : `without ${lacks.join(', ')}`;
              })
            }
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

/** A text to copy, with the names of the values that it lacks. */
interface CopiedText {
  readonly text: string;
  readonly lacks: readonly string[];
}

/** A text cannot hold bytes that are not UTF-8. */
const bytesLost = ({ bodyBase64 }: ListedEntry) =>
  bodyBase64 === undefined ? [] : ['bytes that are no text'];

const noText: CopiedText = { text: '', lacks: [] };

function headerText(headers: Readonly<Record<string, string>>): CopiedText {
  const names = Object.keys(headers);
  const lacks = names.filter((name) => secretName.test(name));
  const lines = names.filter((name) => !secretName.test(name)).map((name) => `${name}: ${headers[name]}`);
  return { text: lines.join('\n'), lacks };
}

/** A command for a POSIX shell. A secret header is a variable, which the user sets. */
function curlCommand(message: ListedEntry): CopiedText {
  const { method = 'POST', url = '', headers = {}, body = '' } = message;
  const sent = Object.entries(headers).filter(([name]) => !ownHeaders.test(name));
  const options = sent.map(([name, value]) =>
    secretName.test(name) ? `-H "${name}: $${variableOf(name)}"` : `-H ${quoted(`${name}: ${value}`)}`,
  );
  const lacks = sent.map(([name]) => name).filter((name) => secretName.test(name));
  const isCut = url.search(secretQuery) !== -1;
  const parts = [
    `curl -sS -X ${method}`,
    ...options,
    ...(body === '' ? [] : [`--data-raw ${quoted(body)}`]),
    quoted(url.replace(secretQuery, '$1[redacted]')),
  ];
  const hint =
    lacks.length === 0
      ? ''
      : `# Set ${lacks.map(variableOf).join(', ')} first: the inspector copies no keys.\n`;
  return {
    text: hint + parts.join(' \\\n  '),
    lacks: [...lacks, ...(isCut ? ['the query'] : []), ...bytesLost(message)],
  };
}

const variableOf = (name: string) => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
