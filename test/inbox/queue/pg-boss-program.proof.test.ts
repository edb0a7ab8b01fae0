import { describeProgram } from './describe-program.ts';
import { itIsolatesAKiller, itLosesNothing } from './killed-workers.ts';

describeProgram('examples/queues/pg-boss.ts', (prepareWith) => {
  itLosesNothing(prepareWith);
  itIsolatesAKiller(prepareWith);
});
