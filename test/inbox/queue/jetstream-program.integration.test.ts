import { expect, it } from 'vitest';
import { describeProgram } from './describe-program.ts';
import { withJetStream } from './programs.ts';

describeProgram('// jetstream.mts', (prepareWith) => {
  it('takes no message before it can handle it, so none is delivered twice', async () => {
    const { start, post, credited, broker } = await prepareWith({
      'nanos(2 * timeLimitMs)': 'nanos(1_500)',
      'pg_sleep(0.02)': 'pg_sleep(0.5)',
    });
    await start();
    await post(60);
    await credited(60);
    const { num_redelivered, delivered } = await withJetStream(broker.port, ({ consumers }) =>
      consumers.info('events', 'inbox'),
    );
    // A message that was delivered again and handled since is counted no more: so the deliveries are.
    expect([num_redelivered, delivered.consumer_seq]).toEqual([0, 60]);
  }, 60_000);
});
