/** Signs buyers in by a code over the messenger. Codes and sessions are in PostgreSQL, so any replica can check them. */
import { createHash, randomBytes } from 'node:crypto';
import type { Otp } from 'partner-exchange-sdk/otp';
import * as z from 'zod';
import type { Database } from './database.ts';
import { parse, ShopError } from './shop-error.ts';

const purpose = 'sign-in';
const codeRequest = z.object({ phone: z.string() });
const sessionRequest = z.object({ id: z.string(), code: z.string() });

export type SignIn = ReturnType<typeof createSignIn>;

export function createSignIn({ otp, database }: { otp: Otp; database: Database }) {
  return {
    /** Sends a code. The id belongs into a cookie, so that the code works in this browser only. */
    async sendCode(body: unknown, ip: string | undefined): Promise<{ id: string; resendAt: number }> {
      const { phone } = parse(codeRequest, body);
      const { id, resendAt } = await otp.issue({ to_phone: phone, purpose, ip });
      return { id, resendAt };
    },

    async openSession(body: unknown): Promise<{ token: string }> {
      const { id, code } = parse(sessionRequest, body);
      const checked = await otp.check(id, code, { purpose });
      if (!checked.ok) throw new ShopError(401, 'This is not the code, or it is no longer valid.');
      const token = randomBytes(32).toString('base64url');
      await database.inTransaction(async (client) => {
        await client.query('INSERT INTO customers (phone) VALUES ($1) ON CONFLICT DO NOTHING', [
          checked.to_phone,
        ]);
        await client.query(`INSERT INTO sessions VALUES ($1, $2, now() + interval '1 day')`, [
          hashOf(token),
          checked.to_phone,
        ]);
      });
      return { token };
    },

    /** The phone number of the session that a request names: `Authorization: Bearer …`. */
    async phoneOf(authorization: string | undefined): Promise<string> {
      const [, token = ''] = /^Bearer (\S{1,100})$/.exec(authorization ?? '') ?? [];
      const { rows } = await database.pool.query<{ phone: string }>(
        'SELECT phone FROM sessions WHERE token_hash = $1 AND expires_at > now()',
        [hashOf(token)],
      );
      if (rows[0] === undefined) throw new ShopError(401, 'Sign in first.');
      return rows[0].phone;
    },
  };
}

/** Hashed, so that a reader of the table cannot use its sessions. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
