/** Which limit was reached: one of the options `limits`, or `maxSends`. */
export type OtpLimit = 'messagesPerPhone' | 'unconfirmedPerIp' | 'failuresPerPhone' | 'maxSends';
