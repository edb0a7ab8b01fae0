import { Refusal } from '../requests.ts';
import { requireSameSecret } from '../seeded-random.ts';

/** Not in `control`, which a server loads for the first request below `/_sandbox/`. @throws {Refusal} */
export function requireToken(authorization: string | null | undefined, token: string): void {
  const [, presented] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  const refusal = new Refusal(
    401,
    presented === undefined ? 'token_missing' : 'token_wrong',
    'This needs the header "Authorization: Bearer" with the token: it is behind #token= in the address of the inspector, and in what listen() returned.',
    { 'www-authenticate': 'Bearer' },
  );
  if (presented === undefined) throw refusal;
  requireSameSecret(presented, token, refusal);
}
