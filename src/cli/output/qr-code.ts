import { renderUnicodeCompact } from 'uqr';

/** A text as a QR code, in lines of characters that are two modules high. Dark on light, whatever the terminal is. */
export function qrCode(text: string): string[] {
  return renderUnicodeCompact(text, { border: 2 }).split('\n');
}
