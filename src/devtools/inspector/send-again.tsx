import { useState } from 'preact/hooks';
import { isListening, type ListedEntry, pathOf, post } from './api.ts';
import { ActionForm } from './fields.tsx';
import { Changes, describePostResult, type PostResult } from './labels.tsx';

interface SendAgainProps {
  readonly message: ListedEntry;
  /** Whether the service signs messages of this kind. */
  readonly isSigned: boolean;
}

export function SendAgain({ message, isSigned }: SendAgainProps) {
  const { id, kind, body = '', headers = {}, url = '' } = message;
  const [text, setText] = useState(body);
  const [head, setHead] = useState(() => linesOf(headers));
  const [address, setAddress] = useState(url);
  const [signature, setSignature] = useState('keep');
  const isEvent = kind === 'event';
  const canSign = isSigned && !isListening;
  const send = async () => {
    const edit = {
      // An unchanged body stays as it is, even if it is not text.
      ...(text !== body && { body: text }),
      // Unchanged headers keep their order and spelling, and those that occur twice.
      ...(head !== linesOf(headers) && { headers: headersIn(head) }),
      ...(!isListening && { ...(isEvent && { url: address }), signature }),
    };
    return describePostResult(await post<PostResult>(pathOf`trace/${id}/send`, edit));
  };
  return (
    <details class="card again">
      <summary>Edit and send again</summary>
      <Changes>
        <ActionForm kind="pad" done="Sent the copy" act={send}>
          {isEvent && !isListening && (
            <label>
              <span class="muted">Address</span>
              <input
                type="url"
                required
                spellcheck={false}
                value={address}
                onInput={(event) => setAddress(event.currentTarget.value)}
              />
            </label>
          )}
          <label>
            <span class="muted">Headers</span>
            <textarea
              rows={4}
              spellcheck={false}
              value={head}
              onInput={(event) => setHead(event.currentTarget.value)}
            />
          </label>
          <label>
            <span class="muted">Body</span>
            <textarea
              rows={10}
              spellcheck={false}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <div class="buttons">
            {canSign && (
              <label>
                <span class="unseen">Signature</span>
                <select value={signature} onChange={(event) => setSignature(event.currentTarget.value)}>
                  <option value="keep">Keep the signature: a change is refused</option>
                  <option value="renew">Sign again with the current key</option>
                </select>
              </label>
            )}
            <button type="submit">{isEvent ? 'Post the copy' : 'Send the copy'}</button>
          </div>
        </ActionForm>
      </Changes>
    </details>
  );
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** @throws {Error} for a line without a colon */
function headersIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value = ''] = /^([^:]+):(.*)$/.exec(line) ?? [];
      if (name === undefined)
        throw new Error(`Write each header as "name: value". This line is not: ${line}`);
      return [name.trim(), value.trim()];
    }),
  );
}
