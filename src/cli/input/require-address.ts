import { deploymentVariables } from '../../config/environment-variables.ts';
import type { Deployment } from '../../deployment/define-deployment.ts';
import { type Operation, operationRules } from '../../deployment/operations.ts';
import { CliError } from '../context/cli-error.ts';

/** Says which variable to set, where the client would speak of options. */
export function requireAddress(deployment: Deployment<unknown>, operation: Operation): void {
  const { baseUrl } = operationRules(operation);
  if (deployment[baseUrl] === undefined)
    throw new CliError(`Set ${variableOf(baseUrl)} to the address of the service.`);
  if (deployment.paths[operation] === undefined) {
    throw new CliError(`Set ${variableOf(`paths.${operation}`)}: the path is not published.`);
  }
}

function variableOf(option: string): string {
  return deploymentVariables.find(({ sets }) => sets === option)?.name ?? option;
}
