import { buildCommand, buildRouteMap, type Command, type RouteMap } from '@stricli/core';
import type { RunContext } from '../terminal/context.ts';

type Route = Command<RunContext> | RouteMap<RunContext>;

interface RouteOutline {
  /** One line, for the list of commands. */
  readonly brief: string;
  /** What must follow the command, as stricli writes it; a test compares both with the command. */
  readonly usage?: string;
  readonly load: () => Promise<{ readonly default: Route }>;
}

/** The commands, as `--help` lists them without loading them. A new one is a file in `commands` and a line here. */
const commands = {
  doctor: {
    brief: 'Check the set-up of an integration',
    load: () => import('./doctor.ts'),
  },
  onboard: {
    usage: '(--email address)',
    brief: 'Register as a partner',
    load: () => import('./onboard.ts'),
  },
  'whitelist-ip': {
    brief: "Whitelist this machine's IP",
    load: () => import('./whitelist-ip.ts'),
  },
  inbox: {
    usage: 'list|show|replay|discard ...',
    brief: 'The dead letters of a durable inbox',
    load: () => import('./inbox/inbox-commands.ts'),
  },
  keys: {
    usage: 'request|receive|promote|status ...',
    brief: 'Replace your keys without losing any',
    load: () => import('./keys.ts'),
  },
  order: {
    usage: 'create|unsettled|settle ...',
    brief: 'Create orders, none twice and none forgotten',
    load: () => import('./order/order.ts'),
  },
  messenger: {
    usage: 'key|scan|check|send ...',
    brief: 'Keys, devices and messages of the messenger service',
    load: () => import('./messenger.ts'),
  },
  send: {
    usage: '(--campaign name) <file>',
    brief: 'Send a message to each row of a CSV file',
    load: () => import('./send/send.ts'),
  },
  sandbox: {
    usage: 'start|orders|advance|play|emails|messages|faults|clock|reset ...',
    brief: 'Run the service, simulated, and control it',
    load: () => import('./sandbox/sandbox-commands.ts'),
  },
  listen: {
    brief: 'Receive events, verify them, and pass them on',
    load: () => import('./listen/listen.ts'),
  },
  trigger: {
    usage: '(--to url)',
    brief: 'Post a signed event to your receiver',
    load: () => import('./trigger/trigger.ts'),
  },
  replay: {
    usage: '<file>...',
    brief: 'Post saved deliveries again, as they were',
    load: () => import('./replay.ts'),
  },
  attack: {
    usage: '<url>',
    brief: 'Attack your receiver, and report its weaknesses',
    load: () => import('./attack/attack.ts'),
  },
  sign: { brief: 'Sign a JSON body', load: () => import('./sign.ts') },
  verify: {
    usage: '<file>...',
    brief: 'Verify the signature of bodies',
    load: () => import('./verify.ts'),
  },
  detect: {
    usage: '<file>...',
    brief: 'Find out how bodies were signed',
    load: () => import('./detect.ts'),
  },
  explain: {
    brief: 'Explain why a signature does not match',
    load: () => import('./explain.ts'),
  },
  probe: {
    brief: 'Print a body whose signature tells all schemes apart',
    load: () => import('./probe.ts'),
  },
  pin: {
    usage: '<file>...',
    brief: 'Pin how the service signs, or check a pin',
    load: () => import('./pin.ts'),
  },
  completion: {
    usage: '<shell>',
    brief: 'Print a script that completes commands in a shell',
    load: () => import('./completion.ts'),
  },
} as const satisfies Record<string, RouteOutline>;

export const commandNames: readonly string[] = Object.keys(commands);

/** The commands of a group, by the first word of a command line; `undefined` for one that is no group. */
export function commandsOfGroup(name: string): readonly string[] | undefined {
  // Sound: each entry is an outline.
  const outline = Object.hasOwn(commands, name)
    ? (commands as Record<string, RouteOutline>)[name]
    : undefined;
  return outline?.usage?.endsWith(' ...') ? outline.usage.slice(0, -' ...'.length).split('|') : undefined;
}

/** The command that runs if a group is named alone, or with options. */
const defaultCommands: Readonly<Record<string, string>> = {
  sandbox: 'start',
  'sandbox faults': 'list',
  'sandbox clock': 'show',
};

/**
 * Adds the default command of a group. stricli could do so, but then takes a misspelt command for an argument of the
 * default one: it neither proposes nor completes commands.
 */
export function withDefaultCommand(words: readonly string[]): readonly string[] {
  const firstOption = words.findIndex((word) => word.startsWith('-'));
  const end = firstOption === -1 ? words.length : firstOption;
  const name = words.slice(0, end).join(' ');
  const isHelp = words[end] === '--help' || words[end] === '-h';
  if (isHelp || !Object.hasOwn(defaultCommands, name)) return words;
  return [...words.slice(0, end), defaultCommands[name] ?? '', ...words.slice(end)];
}

/** Loads the commands that are named. The others are outlines, which can be listed and not run. */
export async function loadRoutes(names: readonly string[]): Promise<RouteMap<RunContext>> {
  const routes = Object.entries<RouteOutline>(commands).map(
    async ([name, command]) =>
      [name, names.includes(name) ? (await command.load()).default : outline(command)] as const,
  );
  return buildRouteMap({
    routes: Object.fromEntries(await Promise.all(routes)),
    docs: { brief: 'Work with a partner exchange and its messenger service.' },
  });
}

function outline({ usage, brief }: RouteOutline): Route {
  const command = buildCommand<object, [], RunContext>({ func: () => {}, parameters: {}, docs: { brief } });
  return {
    ...command,
    formatUsageLine: ({ prefix }) => [...prefix, ...(usage === undefined ? [] : [usage])].join(' '),
  };
}
