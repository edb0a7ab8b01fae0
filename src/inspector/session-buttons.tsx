import { useRef } from 'preact/hooks';
import { getText, postText } from './api.ts';
import { Changes } from './labels.tsx';
import { attempt } from './store.ts';

/** The limit of the server (session.ts). */
const maxBytes = 16 * 1024 * 1024;

export function SessionButtons() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <span class="session">
      <button type="button" title="Save the traffic as a file, without keys" onClick={exportFile}>
        Export
      </button>
      <Changes>
        <button
          type="button"
          title="Add the traffic of an exported file"
          onClick={() => input.current?.click()}
        >
          Import
        </button>
      </Changes>
      <input
        ref={input}
        type="file"
        hidden
        accept=".json,application/json"
        aria-label="File of a session"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          // So that the same file can be chosen again.
          if (file !== undefined) void importFile(file).finally(() => (currentTarget.value = ''));
        }}
      />
    </span>
  );
}

function exportFile(): void {
  void attempt('Exported the traffic', async () => {
    const url = URL.createObjectURL(new Blob([await getText('session')], { type: 'application/json' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = `session-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
}

async function importFile(file: File): Promise<void> {
  await attempt(`Imported ${file.name}`, async () => {
    if (file.size > maxBytes) throw new Error('The file is larger than 16 MiB: no session is that long.');
    const { imported } = await postText<{ imported: number }>('session', await file.text());
    return `${imported} ${imported === 1 ? 'entry' : 'entries'}`;
  });
}
