import { webAddress, wholeNumber } from './parse-flag.ts';

/** Where to post deliveries. */
export interface PostFlags {
  readonly to: URL;
  readonly timeoutMs: number;
}

export const postFlags = {
  to: { kind: 'parsed', parse: webAddress, placeholder: 'url', brief: 'Where your receiver listens' },
  timeoutMs: {
    kind: 'parsed',
    parse: wholeNumber(1, 600_000),
    placeholder: 'ms',
    brief: 'How long to wait for an answer',
    default: '10000',
  },
} as const;
