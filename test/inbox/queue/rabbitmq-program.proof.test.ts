import { expect, it } from 'vitest';
import { describeProgram } from './describe-program.ts';
import { itIsolatesAKiller } from './killed-workers.ts';

describeProgram('examples/queues/rabbitmq.ts', (prepareWith) => {
  it('answers 503 while there is no queue, and never 200', async () => {
    const { start, postOnce } = await prepareWith({ 'await consume(opened);': '' });
    await start();
    expect([await postOnce(), await postOnce()]).toEqual([503, 503]);
  }, 60_000);

  itIsolatesAKiller(prepareWith);
});
