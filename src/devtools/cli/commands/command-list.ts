import { buildCommand, buildRouteMap, type Command, type RouteMap } from '@stricli/core';
import type { RunContext } from '../terminal/context.ts';
import { type CommandOutline, commandOutlines } from './command-outlines.ts';

type Route = Command<RunContext> | RouteMap<RunContext>;

/** The commands, in the order in which `--help` lists them. A new one is a file in `commands` and a line here. */
const commands = {
  doctor: () => import('./doctor/doctor.ts'),
  onboard: () => import('./onboard.ts'),
  'whitelist-ip': () => import('./whitelist-ip.ts'),
  inbox: () => import('./inbox/inbox-commands.ts'),
  keys: () => import('./keys.ts'),
  order: () => import('./order/order.ts'),
  messenger: () => import('./messenger.ts'),
  sandbox: () => import('./sandbox-commands.ts'),
  listen: () => import('./listen/listen.ts'),
  trigger: () => import('./trigger.ts'),
  replay: () => import('./replay.ts'),
  attack: () => import('./attack.ts'),
  sign: () => import('./sign.ts'),
  verify: () => import('./verify.ts'),
  learn: () => import('./learn.ts'),
} as const satisfies Record<string, () => Promise<{ readonly default: Route }>>;

export const commandNames: readonly string[] = Object.keys(commands);

/** The command that runs if a group is named alone, or with options. */
const defaultCommands: Readonly<Record<string, string>> = { sandbox: 'start' };

/**
 * Adds the default command of a group. stricli could do so, but then takes a misspelt command for an argument of the
 * default one, and proposes none.
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
  const routes = Object.entries(commands).map(async ([name, load]): Promise<[string, Route]> => {
    const outline = names.includes(name) ? undefined : commandOutlines?.[name];
    return [name, outline === undefined ? (await load()).default : outlinedRoute(outline)];
  });
  return buildRouteMap({
    routes: Object.fromEntries(await Promise.all(routes)),
    docs: { brief: 'Work with a partner exchange and its messenger service.' },
  });
}

function outlinedRoute({ usage, brief }: CommandOutline): Route {
  const command = buildCommand<object, [], RunContext>({ func: () => {}, parameters: {}, docs: { brief } });
  return { ...command, formatUsageLine: ({ prefix }) => prefix.join(' ') + usage };
}
