import type { Mail, State } from '../sandbox/control/answers.ts';
import { CopyButton, dateText } from './elements.tsx';
import { useStore } from './store.ts';

export function OutboxView() {
  const { state } = useStore();
  const { emails = [], messages = [] } = state ?? {};
  return (
    <div class="outbox">
      <section aria-labelledby="messages">
        <h2 id="messages">Messages</h2>
        {messages.length === 0 && (
          <p class="muted">No messages yet: a code that your server sends is here.</p>
        )}
        <ul>
          {messages.map((message, index) => (
            <li key={index}>
              <Message message={message} />
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="mails">
        <h2 id="mails">Mails</h2>
        {emails.length === 0 && <p class="muted">No mails yet: onboarding sends the first.</p>}
        <ul>
          {emails.map((mail) => (
            <li key={mail.link}>
              <MailCard mail={mail} />
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function Message({ message }: { message: State['messages'][number] }) {
  const { to_phone, messenger_device_no, verify_check, sentAt } = message;
  // A code of four to eight digits, not a part of a longer number.
  const parts = message.message.split(/((?<![-\w])\d{4,8}(?![-\w]))/);
  return (
    <article class="card">
      <div class="card-head">
        <h3>To {to_phone}</h3>
        <span class="muted">{dateText(sentAt)}</span>
      </div>
      <p class="message pad">
        {parts.map((part, index) => (index % 2 === 1 ? <b key={index}>{part}</b> : part))}
      </p>
      <p class="muted pad">
        from device {messenger_device_no}
        {verify_check !== undefined && `, verify_check ${verify_check}`}
      </p>
    </article>
  );
}

const linkStates = {
  open: { tone: 'good', label: 'not opened', text: 'It works once.' },
  used: { tone: 'plain', label: 'used', text: 'The link was opened and works no more.' },
  replaced: { tone: 'plain', label: 'replaced', text: 'A newer mail has the valid link.' },
} as const satisfies Record<Mail['linkState'], object>;

function MailCard({ mail }: { mail: Mail }) {
  const { to, kind, partner_code, link, linkState, sentAt } = mail;
  const { tone, label, text } = linkStates[linkState];
  return (
    <article class="card">
      <div class="card-head">
        <h3>
          {kind === 'onboarding' ? `Your keys, ${partner_code}` : `New keys for ${partner_code}`}{' '}
          <span class={`pill ${tone}`}>{label}</span>
        </h3>
        <span class="muted">{dateText(sentAt)}</span>
      </div>
      <div class="pad">
        <p class="muted">To {to}</p>
        <p>
          {kind === 'onboarding' ? 'This link shows your keys. ' : 'This link shows your new keys. '}
          {text}
        </p>
        {linkState === 'open' && (
          <>
            <p class="where">{link}</p>
            <div class="buttons">
              {/^https?:\/\//.test(link) && (
                <a class="button" href={link} target="_blank" rel="noreferrer">
                  Open the link
                </a>
              )}
              <CopyButton title="Copy the link" text={link} />
            </div>
          </>
        )}
      </div>
    </article>
  );
}
