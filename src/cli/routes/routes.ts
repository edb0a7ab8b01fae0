import { buildCommand, buildRouteMap, type Command, type RouteMap } from '@stricli/core';
import type { RouteContext } from './define-command.ts';
import { type Synopsis, synopses } from './synopses.ts';

type Route = Command<RouteContext> | RouteMap<RouteContext>;

export type CommandName = keyof typeof synopses;

/**
 * Every command. A new one is a file here, which says how it is called, one in `commands`, which does it, and a line in
 * `synopses`.
 */
const commands: Readonly<Record<CommandName, () => Promise<Route>>> = {
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  onboard: async () => (await import('./onboard.ts')).onboardCommand,
  'whitelist-ip': async () => (await import('./whitelist-ip.ts')).whitelistIpCommand,
  inbox: async () => (await import('./inbox.ts')).inboxRoutes,
  keys: async () => (await import('./keys.ts')).keysRoutes,
  order: async () => (await import('./order.ts')).orderRoutes,
  messenger: async () => (await import('./messenger.ts')).messengerRoutes,
  send: async () => (await import('./send.ts')).sendCommand,
  sandbox: async () => (await import('./sandbox.ts')).sandboxCommand,
  listen: async () => (await import('./listen.ts')).listenCommand,
  trigger: async () => (await import('./trigger.ts')).triggerCommand,
  replay: async () => (await import('./replay.ts')).replayCommand,
  attack: async () => (await import('./attack.ts')).attackCommand,
  sign: async () => (await import('./sign.ts')).signCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  detect: async () => (await import('./detect.ts')).detectCommand,
  explain: async () => (await import('./explain.ts')).explainCommand,
  probe: async () => (await import('./probe.ts')).probeCommand,
  pin: async () => (await import('./pin.ts')).pinCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
};

// Sound: the keys of the table above.
export const commandNames = Object.keys(commands) as CommandName[];

/** The commands as stricli takes them: those that are named complete, of the others only what `--help` says of them. */
export async function loadRoutes(names: readonly string[]): Promise<RouteMap<RouteContext>> {
  const routes = commandNames.map(
    async (name) => [name, names.includes(name) ? await commands[name]() : outline(synopses[name])] as const,
  );
  return buildRouteMap({
    routes: Object.fromEntries(await Promise.all(routes)),
    docs: { brief: 'Work with a partner exchange and its messenger service.' },
  });
}

/** A command that can be listed, and is never run. */
function outline({ usage, brief }: Synopsis): Route {
  const command = buildCommand<object, [], RouteContext>({ func: () => {}, parameters: {}, docs: { brief } });
  return {
    ...command,
    formatUsageLine: ({ prefix }) => [...prefix, ...(usage === undefined ? [] : [usage])].join(' '),
  };
}
