/** Milliseconds that an expired record stays where it is: a clock may be ahead, and be set right. */
export const expiryGraceMs = 3_600_000;
