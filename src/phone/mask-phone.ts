/**
 * A phone number of which only the first four and the last two characters are shown, for logs and metrics:
 * `+234********78`.
 *
 * @param phone in E.164
 */
export function maskPhone(phone: string): string {
  // A short number shows less.
  const shown = Math.min(4, Math.floor(phone.length / 3));
  return phone.slice(0, shown) + '*'.repeat(phone.length - shown - 2) + phone.slice(-2);
}
