import {
  configurationRemedies,
  inboxRemedies,
  keyRemedies,
  onceRemedies,
  orderRemedies,
  otpRemedies,
  type Remedies,
  requestRefusalRemedies,
  requestRemedies,
  signatureRemedies,
  storeRemedies,
  validationRemedies,
} from '../../src/errors/remedies.ts';

/** The remedies of each code, by class. Only for documents and tests: it would keep every table in every bundle. */
export const remedies = {
  ConfigurationError: configurationRemedies,
  InboxError: inboxRemedies,
  KeyError: keyRemedies,
  OnceError: onceRemedies,
  OrderError: orderRemedies,
  OtpError: otpRemedies,
  RequestError: requestRemedies,
  RequestRefusal: requestRefusalRemedies,
  SignatureError: signatureRemedies,
  StoreError: storeRemedies,
  ValidationError: validationRemedies,
} as const satisfies Readonly<Record<string, Remedies>>;
