/** For a payment that has to be confirmed by a code, in a program of many processes: the codes are in PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { createOtp, isOtpError, type OtpMessenger } from 'partner-exchange-sdk/otp';
import { postgresStore } from 'partner-exchange-sdk/store';
import pg from 'pg';

const connectionString = process.env.DATABASE_URL;
if (connectionString === undefined) {
  console.log('This example needs a PostgreSQL: DATABASE_URL=postgres://user:password@host:5432/database');
} else await confirmPayments(connectionString);

async function confirmPayments(connectionString: string): Promise<void> {
  const pool = new pg.Pool({ connectionString });
  // In production the default name will do: the table is made when it is missing.
  const table = `otp_${randomBytes(6).toString('hex')}`;
  // In production: from your secret store, the same in every process.
  const secret = randomBytes(32);
  /** In production a MessengerClient, or several. */
  const sent: string[] = [];
  const messenger: OtpMessenger = {
    sendMessage: async ({ message }) => {
      sent.push(message);
    },
  };
  /** What each process does when it starts. */
  const startProcess = () =>
    createOtp({
      messenger,
      store: postgresStore({ client: pool, table }),
      secrets: [secret],
      allowedPrefixes: ['+234'],
      message: ({ code, minutes }) => `${code} confirms 5,000 NGN to Ada Obi. Valid for ${minutes} minutes.`,
    });
  const [web, api] = [startProcess(), startProcess()];

  try {
    const payment = { purpose: 'payment', subject: 'payment-1001' };
    const { id } = await web.issue({ to_phone: '+234 801 234 5678', ...payment, ip: '198.51.100.7' });
    const code = /^\d{6}/.exec(sent[0] ?? '')?.[0] ?? '';

    // One process knows what another has sent a moment ago.
    const early = await api.resend(id).catch((error: unknown) => error);
    if (!isOtpError(early)) throw new Error('The cool-down was expected.');
    console.log(early.code, `${early.retryAfterMs} ms`);

    const other = await api.check(id, code, { ...payment, subject: 'payment-1002' });
    console.log('for another payment:', other);
    // A person who clicks twice, on two servers: one of them pays.
    const both = await Promise.all([web, api].map((otp) => otp.check(id, code, payment)));
    const paid = both.filter(({ ok }) => ok).length;
    console.log('for this one, at once:', both);
    if (other.ok || paid !== 1) throw new Error(`It was paid ${paid} times.`);
  } finally {
    await pool.query(`DROP TABLE IF EXISTS ${table}`);
    await pool.end();
  }
}
