import type { Message } from './api.ts';
import { SearchField } from './fields.tsx';
import { cut, shownMinute } from './labels.tsx';
import { navigate, useStore } from './store.ts';

export function MessagesView() {
  const {
    messages,
    address: { open, search },
  } = useStore();
  const items = messages?.items ?? [];
  const phones = [...new Set(items.map(({ to_phone }) => to_phone))];
  const shown = phones.find((each) => each === open) ?? phones[0];
  if (shown === undefined && search === '')
    return <p class="empty">No messages yet. Each message that is sent is shown here as on a phone.</p>;
  return (
    <div class="messenger">
      <nav aria-label="Phones">
        <div class="bar">
          <SearchField label="Search the messages" placeholder="Search" />
          <output class="muted">{items.length}</output>
        </div>
        <ul class="cards">
          {phones.map((each) => (
            <li key={each}>
              <button
                type="button"
                class="contact"
                aria-pressed={each === shown}
                onClick={() => navigate({ open: each })}
              >
                <b>{cut(each)}</b>
                <span class="muted">
                  {cut(items.find(({ to_phone }) => to_phone === each)?.message ?? '')}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </nav>
      {shown === undefined ? (
        <p class="empty">No matches.</p>
      ) : (
        <Phone phone={shown} messages={items.filter(({ to_phone }) => to_phone === shown)} />
      )}
    </div>
  );
}

function Phone({ phone, messages }: { phone: string; messages: readonly Message[] }) {
  const oldestFirst = messages.toReversed();
  return (
    <section class="phone" aria-label={`Phone ${phone}`}>
      <div class="phone-head">
        <span class="avatar" aria-hidden="true">
          ✉
        </span>
        <span>
          <b>Messenger</b>
          <span class="muted">to {phone}</span>
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to. */}
      <ol class="chat" tabIndex={0} aria-label="Messages">
        {oldestFirst.map((message, index) => (
          <li key={index}>
            <p>
              <Marked text={message.message} />
            </p>
            <span class="muted">
              device {message.messenger_device_no} · {shownMinute(message.sentAt)}
              {message.verify_check !== undefined && ` · verify_check ${message.verify_check}`}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Marked({ text }: { text: string }) {
  return text
    .split(/((?<![-\w])\d{4,8}(?![-\w]))/)
    .map((part, index) => (index % 2 === 1 ? <b class="code">{part}</b> : part));
}
