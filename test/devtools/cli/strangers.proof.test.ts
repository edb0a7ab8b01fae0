import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { secretGuard } from '../../../src/devtools/cli/terminal/secret-guard.ts';
import { times } from '../../support/repeat.ts';
import { partnerExchange } from './run-in-process.ts';
import { addressOf, filesIn, keys, scratchFolder, start } from './support.ts';

/** What moves the cursor, reorders text, or is not seen; a lone surrogate too. A line break ends a line of ours. */
const harmful = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;
const withoutLineBreaks = (text: string) => text.replaceAll('\n', '');
/** Colours of ours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const colours = /\u001b\[\d{1,2}m/g;

const misleading = [
  ...Array.from({ length: 0xa0 }, (_, code) => code),
  ...[0xad, 0x61c, 0x200b, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e],
  ...[0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xfeff, 0xffff],
  ...[0xe0001, 0xe0041, 0xf0000, 0x10ffff],
];
/** Over all of Unicode, and often over what misleads. */
const strange = fc
  .array(
    fc.oneof(
      fc.constantFrom(...misleading).map((code) => String.fromCodePoint(code)),
      fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
      fc.constantFrom('\u001b[31m', '\u001b]0;title\u0007', '\u009b2J', '\r\u001b[2K', '\\u202e', '"', 'a'),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => parts.join(''));

function guarded(isTTY: boolean) {
  const printed: string[] = [];
  const stream = secretGuard({}).guard({ isTTY, write: (text) => printed.push(text) });
  return { stream, printed: () => printed.join('') };
}

describe('everything that is written', () => {
  it.each([false, true])('shows each character of Unicode without harm (terminal: %s)', (isTerminal) => {
    // All of the first plane, where scripts and what misleads are, and samples of the others.
    const step = (code: number) => (code < 0x10000 ? 0x400 : times(0x4000, 0x400));
    for (let code = 0; code <= 0x10ffff; code += step(code)) {
      const block = Array.from({ length: 0x400 }, (_, place) => String.fromCodePoint(code + place));
      const { stream, printed } = guarded(isTerminal);
      // Apart, so that no two surrogates are a pair.
      stream.write(JSON.stringify(block));
      expect(printed()).not.toMatch(harmful);
      expect(JSON.parse(printed())).toEqual(block);
    }
  });

  it('is JSON with the same value, indented or in a line', () => {
    fc.assert(
      fc.property(fc.dictionary(strange, strange), fc.constantFrom(0, 2), (value, indent) => {
        const { stream, printed } = guarded(false);
        stream.write(JSON.stringify(value, null, indent));
        expect(withoutLineBreaks(printed())).not.toMatch(harmful);
        expect(JSON.stringify(JSON.parse(printed()))).toBe(JSON.stringify(value));
      }),
    );
  });

  it('leaves ordinary text of any script as it is', () => {
    const { stream, printed } = guarded(true);
    const text = 'Ọ̀yọ́ – £15 000,50 ₦ ✓ 日本 عربى हिन्दी 👍 ▄▀█\n';
    stream.write(text);
    expect(printed()).toBe(text);
  });
});

/** One body of an event as a stranger would post it. */
function postedBy(text: string): string {
  return JSON.stringify({ event_name: text, partner_order_id: text, [text]: text, signature: text });
}

describe.each(['json', 'text'] as const)('what strangers send, as --format %s shows it', (format) => {
  const expectHarmless = (printed: string) => {
    expect(withoutLineBreaks(printed.replaceAll(colours, ''))).not.toMatch(harmful);
    if (format === 'json') for (const line of printed.trimEnd().split('\n')) JSON.parse(line);
  };

  it.each([false, true])(
    'listen: one harmless line for each event (terminal: %s)',
    { timeout: 60_000 },
    async (isTerminal) => {
      const running = start(['listen', '--port', '0', '--save', 'events', '--format', format], {
        env: keys,
        isTerminal,
        cwd: scratchFolder(),
      });
      const url = await addressOf(running);
      let count = 0;
      await fc.assert(
        fc.asyncProperty(strange, async (text) => {
          count++;
          await fetch(`${url}/${encodeURIComponent(text.toWellFormed())}`, {
            method: 'POST',
            body: postedBy(text),
          });
        }),
        { numRuns: times(8, 60) },
      );
      const { stdout, stderr } = await running.stop();
      expectHarmless(stdout);
      expect(stdout.trimEnd().split('\n')).toHaveLength(count);
      expect(withoutLineBreaks(stderr.replaceAll(colours, ''))).not.toMatch(harmful);
    },
  );
});

describe('a text that is signed', () => {
  const body = '{"name":"\u202eX\u200d"}';

  it('is exact in a pipe', async () => {
    const { stdout } = await partnerExchange(['sign'], { env: keys, stdin: body });
    expect(stdout.startsWith(body.slice(0, -1))).toBe(true);
  });

  it('is shown without harm on a terminal, which says so', async () => {
    const cwd = filesIn({ 'a.json': body });
    const { stdout, stderr } = await partnerExchange(['sign', 'a.json'], {
      env: keys,
      cwd,
      isTerminal: true,
    });
    expect(stdout).toContain('{"name":"\\u202eX\\u200d"');
    expect(stderr).toContain('write it to a file');
  });
});

it.each(['verify', 'replay --to http://127.0.0.1:1', 'sign'])(
  '%s shows what is invisible in the name of a file that is not there, as text and as JSON',
  async (command) => {
    const name = 'a\u200b\u202e\u2066\u001b[31m.json';
    const shown = 'a\\u200b\\u202e\\u2066\\u001b[31m.json';
    for (const more of [[], ['--format', 'json']]) {
      const { code, stderr } = await partnerExchange([...command.split(' '), name, ...more], {
        env: keys,
        cwd: scratchFolder(),
      });
      expect(code).toBe(2);
      const message = more.length === 0 ? stderr : String(JSON.parse(stderr).error.message);
      expect(message).toMatch(/There is no |no such/);
      expect(message).toContain(shown);
    }
  },
);
