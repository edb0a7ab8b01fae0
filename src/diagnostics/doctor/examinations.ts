import { baseUrlExaminations } from './checks/base-url.ts';
import { callbackAddress } from './checks/callback-address.ts';
import { callbackReceiver } from './checks/callback-receiver.ts';
import { clock } from './checks/clock.ts';
import { databaseFileExaminations } from './checks/database-files.ts';
import { environment, environmentNames } from './checks/environment.ts';
import { keys } from './checks/keys.ts';
import { peerExaminations } from './checks/peers.ts';
import { runtime } from './checks/runtime.ts';
import { schemePin } from './checks/scheme-pin.ts';
import { callbackTls } from './checks/tls.ts';
import type { Examination } from './examination.ts';

/** Every check, in the order in which they are reported. */
export const examinations: readonly Examination[] = [
  runtime,
  environment,
  environmentNames,
  keys,
  schemePin,
  ...baseUrlExaminations('onboarding', 'onboardingBaseUrl'),
  ...baseUrlExaminations('staging', 'stagingUrl'),
  ...baseUrlExaminations('messenger', 'messengerBaseUrl'),
  clock,
  callbackAddress,
  callbackTls,
  callbackReceiver,
  ...peerExaminations,
  ...databaseFileExaminations('inbox', ({ inboxFiles }) => inboxFiles),
  ...databaseFileExaminations('store', ({ storeFiles }) => storeFiles),
];
