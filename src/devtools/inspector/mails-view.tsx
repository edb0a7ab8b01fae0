import type { Email } from './api.ts';
import { copy } from './copy-buttons.tsx';
import { shownDate } from './labels.tsx';
import { attempt, useStore } from './store.ts';

export function MailsView() {
  const { mails } = useStore();
  const items = mails?.items ?? [];
  if (items.length === 0) return <p class="empty">No mails yet: onboarding sends the first.</p>;
  return (
    <ul class="mails">
      {items.map((mail) => (
        <li key={mail.link}>
          <Mail mail={mail} />
        </li>
      ))}
    </ul>
  );
}

const linkStates: Readonly<Record<Email['linkState'], { readonly label: string; readonly text: string }>> = {
  open: { label: 'not opened', text: 'It works once.' },
  used: { label: 'used', text: 'The link was opened and works no more.' },
  replaced: { label: 'replaced', text: 'A newer mail has the valid link.' },
};

function Mail({ mail }: { mail: Email }) {
  const { to, kind, partner_code, link, linkState, sentAt } = mail;
  const isOpen = linkState === 'open';
  const { label, text } = linkStates[linkState];
  return (
    <article class={isOpen ? 'card' : 'card used'}>
      <div class="card-head">
        <h2>
          {kind === 'onboarding' ? `Your keys, ${partner_code}` : `New keys for ${partner_code}`}{' '}
          <span class={isOpen ? 'pill good' : 'pill'}>{label}</span>
        </h2>
        <span class="muted">{shownDate(sentAt)}</span>
      </div>
      <div class="pad">
        <p class="muted">To {to}</p>
        <p>
          {kind === 'onboarding'
            ? 'This link shows your keys. '
            : 'This link shows your new keys and ends the old ones. '}
          {text}
        </p>
        <p class="where">{link}</p>
        {isOpen && (
          <div class="buttons">
            {/^https?:\/\//.test(link) && (
              <a class="button" href={link} target="_blank" rel="noreferrer">
                Open the link
              </a>
            )}
            <button type="button" onClick={() => attempt('Copied the link', () => copy(link))}>
              Copy
            </button>
          </div>
        )}
      </div>
    </article>
  );
}
