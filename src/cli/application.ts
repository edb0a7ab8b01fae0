import { type Application, buildApplication, help, version } from '@stricli/core';
import { userAgent } from '../http/user-agent.ts';
import { applicationText } from './output/application-text.ts';
import type { RouteContext } from './routes/define-command.ts';
import { loadRoutes } from './routes/routes.ts';

/** The command line as stricli runs it, with the commands that are named. */
export async function loadApplication(names: readonly string[]): Promise<Application<RouteContext>> {
  return buildApplication(
    await loadRoutes(names),
    {
      name: 'partner-exchange',
      scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
      localization: { text: applicationText },
    },
    {
      help: help({
        brief: 'Print help and exit',
        defaultForRouteMap: true,
        complete: true,
        formatting: {
          caseStyle: 'convert-camel-to-kebab',
          useAliasInUsageLine: false,
          onlyRequiredInUsageLine: true,
        },
      }),
      version: version({
        brief: 'Print the version and exit',
        complete: true,
        info: { currentVersion: userAgent.slice(userAgent.indexOf('/') + 1) },
      }),
    },
  );
}
