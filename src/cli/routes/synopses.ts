/** What `--help` says of a command, which is all that it loads. */
export interface Synopsis {
  /** What must follow the command, as stricli writes it; a test compares it with the command. */
  readonly usage?: string;
  /** One line, for the list of commands. */
  readonly brief: string;
}

/** The commands, and what `--help` says of each. */
export const synopses = {
  doctor: { brief: 'Check what an integration stands on' },
  onboard: { usage: '(--email address)', brief: 'Register as a partner' },
  'whitelist-ip': { brief: "Whitelist this machine's IP" },
  inbox: { usage: 'list|show|replay|discard ...', brief: 'The dead letters of a durable inbox' },
  keys: { usage: 'request|receive|promote|status ...', brief: 'Replace your keys without losing any' },
  order: { usage: 'create|unsettled|settle ...', brief: 'Create orders, none twice and none forgotten' },
  messenger: {
    usage: 'key|scan|check|send ...',
    brief: 'Keys, devices and messages of the messenger service',
  },
  send: { usage: '(--campaign name) <file>', brief: 'Send a message to each row of a CSV file' },
  sandbox: { brief: 'Run the service, simulated' },
  listen: { brief: 'Receive events, verify them, and pass them on' },
  trigger: { usage: '(--to url) <event>', brief: 'Post a signed event to your receiver' },
  replay: { usage: '(--to url) <file>...', brief: 'Post saved deliveries again, as they were' },
  attack: { usage: '<url>', brief: 'Attack your receiver of events, as its worst callers would' },
  sign: { brief: 'Sign a JSON body' },
  verify: { usage: '<file>...', brief: 'Verify the signature of bodies' },
  detect: { usage: '<file>...', brief: 'Find out how bodies were signed' },
  explain: { brief: 'Explain why a signature does not match' },
  probe: { brief: 'Print a body whose signature tells all schemes apart' },
  pin: { usage: '<file>...', brief: 'Pin how the service signs, or check a pin' },
  completion: { usage: '<shell>', brief: 'Print a script that completes commands in a shell' },
} as const satisfies Record<string, Synopsis>;
