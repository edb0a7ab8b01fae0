import { describeProgram } from './describe-program.ts';
import { itIsolatesAKiller, itLosesNothing } from './killed-workers.ts';

describeProgram('examples/queues/bullmq.ts', (prepareWith) => {
  itLosesNothing(prepareWith);
  itIsolatesAKiller(prepareWith);
});
