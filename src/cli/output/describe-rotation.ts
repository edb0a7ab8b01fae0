import type { KeyStatus, RotationStatus } from '../../rotation/rotation-status.ts';
import type { Paint } from './paint.ts';

/** Where a rotation stands, in lines. */
export function describeRotation({ step, requestedAt, keys }: RotationStatus, paint: Paint): string[] {
  const asked = requestedAt === undefined ? '' : `, asked for at ${timeOf(requestedAt)}`;
  return [`${paint('bold', step)}: ${meanings[step]}${asked}`, ...keys.map(describeKey)];
}

/** What to do after a step. */
export function nextStep(step: RotationStatus['step'], file: string): string {
  const call = (command: string) => `partner-exchange keys ${command} --keys ${file}`;
  switch (step) {
    case 'empty':
      return `open the link in the e-mail, once, and run: ${call('receive')}`;
    case 'idle':
      return `nothing. For new keys: ${call('request')} --email <address>`;
    case 'unknown':
      return `look for the e-mail. If it came, open its link and run: ${call('receive')} If not, ask with --again.`;
    case 'requested':
      return `open the link in the e-mail, once, and run: ${call('receive')}`;
    case 'received':
      return `let every program read the file again, and run: ${call('promote')}`;
  }
}

const meanings: Readonly<Record<RotationStatus['step'], string>> = {
  empty: 'there are no keys',
  idle: 'nothing is under way',
  unknown: 'whether the service got the request for new keys is not known',
  requested: 'the service sends a link to new keys',
  received: 'the new keys are stored; they verify, and do not sign yet',
};

function describeKey({ generation, role, receivedAt, verifiesUntil }: KeyStatus): string {
  const until = verifiesUntil === undefined ? '' : `, verifies until ${timeOf(verifiesUntil)}`;
  return `  ${generation} ${role.padEnd(8)} received ${timeOf(receivedAt)}${until}`;
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
