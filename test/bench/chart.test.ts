import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tools/checks/entries.ts';
import { type BarChart, type LineChart, toSvg } from './chart.ts';

const bars: BarChart = {
  kind: 'bars',
  name: 'bars',
  title: 'Ours & "theirs" <b>',
  description: 'Text with & and <.',
  unit: 'µs (less is better)',
  bars: [
    { label: 'ours', value: 5, own: true },
    { label: 'a < b & "c"', value: 10 },
  ],
};
const lines: LineChart = {
  kind: 'lines',
  name: 'lines',
  title: 'By size',
  description: 'It grows.',
  x: 'bytes',
  y: 'µs',
  lines: [
    {
      label: 'ours',
      own: true,
      points: [
        [1_000, 10],
        [100_000, 1_000],
      ],
    },
    {
      label: 'bare',
      points: [
        [1_000, 10],
        [100_000, 1_000],
      ],
    },
  ],
};

describe('a chart', () => {
  it.each([bars, lines])('is well-formed XML with title and description: $kind', (chart) => {
    const svg = toSvg(chart);
    expect(faultOf(svg)).toBeUndefined();
    expect(svg).toMatch(/<title id="title">.+<\/title>\n<desc id="description">.+<\/desc>/);
    expect(svg).toContain('prefers-color-scheme: dark');
  });

  it('has bars as long as their values, in one scale', () => {
    const lengths = [...toSvg(bars).matchAll(/class="bar[^"]*" x="\d+" y="\d+" width="([\d.]+)"/g)];
    const [own = 0, other = 0] = lengths.map(([, length]) => Number(length));
    expect(other / own).toBe(2);
  });

  it('has round steps from zero on a linear scale, and ends with the greatest value', () => {
    const points = [
      [1, 28.6],
      [30, 14],
    ] as const;
    const svg = toSvg({ ...lines, scale: 'linear', lines: [{ label: 'ours', points }] });
    const ticks = [...svg.matchAll(/class="tick" text-anchor="(?:end|middle)">(\d+)</g)].map(
      ([, text]) => text,
    );
    const steps = ['0', '5', '10', '15', '20', '25', '30'];
    expect(ticks).toEqual([...steps, ...steps]);
    expect(svg).toContain('470,211.2"');
  });

  it('shows growth in proportion as a straight line, and names that do not cover each other', () => {
    const svg = toSvg(lines);
    expect(svg).toContain('points="76,340 470,64"');
    const names = [...svg.matchAll(/y="([\d.]+)" class="name[^"]*"/g)].map(([, y]) => Number(y));
    expect(Math.abs((names[0] ?? 0) - (names[1] ?? 0))).toBeGreaterThanOrEqual(18);
  });

  it('of the documentation is well-formed', () => {
    for (const file of globSync('docs/images/*.svg', { cwd: root }))
      expect([file, faultOf(readFileSync(join(root, file), 'utf8'))]).toEqual([file, undefined]);
  });

  it('that is not well-formed would be noticed', () => {
    const svg = toSvg(bars);
    for (const broken of [
      svg.replace('&amp;', '&'),
      svg.replace('</text>', ''),
      svg.replace(/ text-anchor="start"/, ' text-anchor=start'),
      svg.replace('&lt;b', '<b'),
      `${svg}<g>`,
    ])
      expect(faultOf(broken)).toBeDefined();
  });
});

/** Where XML that has neither comments nor CDATA is not well-formed. */
function faultOf(xml: string): string | undefined {
  const open: string[] = [];
  let end = 0;
  const token =
    /<(\/?)([a-z]+)((?: [a-zA-Z0-9:-]+="(?:[^"<&]|&(?:amp|lt|gt|quot);)*")*)(\/?)>|(?:[^<&]|&(?:amp|lt|gt|quot);)+/gy;
  for (let found = token.exec(xml); found !== null; found = token.exec(xml)) {
    end = token.lastIndex;
    const [, closing, name, , empty] = found;
    if (name === undefined) continue;
    if (closing === '/' && open.pop() !== name) return `</${name}> closes another element`;
    if (closing === '' && empty === '') open.push(name);
    if (open.length === 0 && xml.slice(end).trim() !== '') return 'something after the end';
  }
  if (end !== xml.length) return `at ${xml.slice(end, end + 20)}`;
  return open.length === 0 ? undefined : `<${open.at(-1)}> is not closed`;
}
