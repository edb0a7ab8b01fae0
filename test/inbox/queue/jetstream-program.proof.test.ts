import { expect, it } from 'vitest';
import { describeProgram } from './describe-program.ts';
import { withJetStream } from './programs.ts';

describeProgram('examples/queues/jetstream.ts', (prepareWith) => {
  it('takes no message before it can handle it, so none is delivered twice', async () => {
    const { start, post, credited, broker } = await prepareWith({
      'timeLimitMs = 30_000': 'timeLimitMs = 20_000',
      // Longer than one message takes on a busy machine, and shorter than all of them take.
      'nanos(2 * timeLimitMs)': 'nanos(5_000)',
      'pg_sleep(0.02)': 'pg_sleep(0.5)',
    });
    await start();
    await post(120);
    await credited(120);
    const { num_redelivered, delivered } = await withJetStream(broker.port, ({ consumers }) =>
      consumers.info('events', 'inbox'),
    );
    // A message that was delivered again and handled since is counted no more: so the deliveries are.
    expect([num_redelivered, delivered.consumer_seq]).toEqual([0, 120]);
  }, 60_000);
});
