const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const time = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});
const minute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

export const shownDate = (ms: number) => date.format(ms);
export const shownTime = (ms: number) => time.format(ms);
export const shownMinute = (ms: number) => minute.format(ms);
