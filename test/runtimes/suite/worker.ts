/** For workerd: answers with the report. */
import { runSuite } from './run-suite.ts';

export default {
  fetch: async (): Promise<Response> => Response.json(await runSuite()),
};
