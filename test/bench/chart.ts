import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A figure of a benchmark as a picture: what is compared, in one unit. */
export type Chart = BarChart | LineChart;

interface ChartBase {
  /** The file is `docs/images/<name>.svg`. */
  readonly name: string;
  readonly title: string;
  /** What the figures say, in one line, for a reader who does not see the picture. */
  readonly description: string;
}

export interface BarChart extends ChartBase {
  readonly kind: 'bars';
  /** Of the values, with what is better: `µs of CPU per request (less is better)`. */
  readonly unit: string;
  /** `own` ones are this package's. */
  readonly bars: readonly { readonly label: string; readonly value: number; readonly own?: boolean }[];
}

export interface LineChart extends ChartBase {
  readonly kind: 'lines';
  /** Logarithmic on both axes: what grows in proportion is a diagonal, what does not grow is level. @default 'log' */
  readonly scale?: 'log' | 'linear';
  readonly x: string;
  readonly y: string;
  readonly lines: readonly {
    readonly label: string;
    readonly own?: boolean;
    readonly points: readonly (readonly [x: number, y: number])[];
  }[];
}

/** Writes each chart into a folder, and returns the paths. */
export function writeCharts(charts: readonly Chart[], folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  return charts.map((chart) => {
    const path = join(folder, `${chart.name}.svg`);
    writeFileSync(path, toSvg(chart));
    return path;
  });
}

const width = 720;
const rowHeight = 30;
const top = 64;
const labelWidth = 270;
/** Room for the value at the end of the longest bar. */
const valueWidth = 90;
const plot = { left: 76, right: 470, top, bottom: 340 };

/** An SVG that is readable on a light and on a dark page. */
export function toSvg(chart: Chart): string {
  const { height, content } = chart.kind === 'bars' ? drawBars(chart) : drawLines(chart);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${escapeXml(chart.title)}</title>
<desc id="description">${escapeXml(chart.description)}</desc>
<style>${style}</style>
<rect class="page" width="${width}" height="${height}"/>
${text(20, 28, chart.title, 'heading')}
${content.join('\n')}
</svg>
`;
}

const style = `
text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
.page { fill: #ffffff; }
.heading { font-size: 16px; font-weight: 600; }
.unit, .tick { fill: #59636e; font-size: 12px; }
.own-label { font-weight: 600; }
.grid { stroke: #d1d9e0; }
.bar { fill: #9198a1; }
.own { fill: #0969da; }
.line { fill: none; stroke-width: 2; stroke: var(--colour); }
.point, .name { fill: var(--colour); }
.c0 { --colour: #0969da; } .c1 { --colour: #bc4c00; } .c2 { --colour: #1a7f37; } .c3 { --colour: #8250df; } .c4 { --colour: #59636e; } .c5 { --colour: #bf3989; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.page { fill: #0d1117; }
.unit, .tick { fill: #9198a1; }
.grid { stroke: #30363d; }
.bar { fill: #6e7681; }
.own { fill: #4493f8; }
.point, .name { fill: var(--colour); }
.c0 { --colour: #4493f8; } .c1 { --colour: #f0883e; } .c2 { --colour: #3fb950; } .c3 { --colour: #ab7df8; } .c4 { --colour: #9198a1; } .c5 { --colour: #f778ba; }
}
`;

function drawBars({ bars, unit }: BarChart): { height: number; content: string[] } {
  const most = Math.max(...bars.map(({ value }) => value));
  const scale = (width - labelWidth - valueWidth - 20) / most;
  const content = [text(20, 48, unit, 'unit')];
  for (const [row, { label, value, own = false }] of bars.entries()) {
    const y = top + row * rowHeight;
    const length = round(Math.max(1, value * scale));
    content.push(
      text(labelWidth - 10, y + 17, label, own ? 'own-label' : '', 'end'),
      `<rect class="${own ? 'bar own' : 'bar'}" x="${labelWidth}" y="${y + 3}" width="${length}" height="20" rx="2"/>`,
      text(labelWidth + length + 8, y + 17, formatFigure(value), own ? 'own-label' : ''),
    );
  }
  return { height: top + bars.length * rowHeight + 16, content };
}

function drawLines({ lines, x, y, scale = 'log' }: LineChart): { height: number; content: string[] } {
  const points = lines.flatMap(({ points }) => points);
  const xs = scales[scale](
    points.map(([value]) => value),
    plot.left,
    plot.right,
  );
  const ys = scales[scale](
    points.map(([, value]) => value),
    plot.bottom,
    plot.top,
  );
  const content = [
    text(20, 48, y, 'unit'),
    text((plot.left + plot.right) / 2, plot.bottom + 42, x, 'unit', 'middle'),
  ];
  for (const value of ys.ticks) {
    const at = ys.place(value);
    content.push(`<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${at}" y2="${at}"/>`);
    content.push(text(plot.left - 8, at + 4, formatFigure(value), 'tick', 'end'));
  }
  for (const value of xs.ticks) {
    const at = xs.place(value);
    content.push(`<line class="grid" x1="${at}" x2="${at}" y1="${plot.top}" y2="${plot.bottom}"/>`);
    content.push(text(at, plot.bottom + 20, formatFigure(value), 'tick', 'middle'));
  }
  // Names stand at the ends of their lines, at least a line of text apart.
  const ends = lines
    .map(({ points }, index) => ({ index, at: ys.place(points.at(-1)?.[1] ?? 1) }))
    .toSorted((a, b) => a.at - b.at);
  const nameAt = new Map<number, number>();
  let last = Number.NEGATIVE_INFINITY;
  for (const { index, at } of ends) {
    last = Math.max(at, last + 18);
    nameAt.set(index, last);
  }
  for (const [index, { label, points, own = false }] of lines.entries()) {
    const placed = points.map(([px, py]) => [xs.place(px), ys.place(py)] as const);
    const path = placed.map(([px, py]) => `${px},${py}`).join(' ');
    content.push(
      `<g class="c${index % 6}">`,
      `<polyline class="line" points="${path}"${own ? '' : ' stroke-dasharray="5 4"'}/>`,
      ...placed.map(([px, py]) => `<circle class="point" cx="${px}" cy="${py}" r="3"/>`),
      text(plot.right + 12, (nameAt.get(index) ?? 0) + 4, label, own ? 'name own-label' : 'name'),
      '</g>',
    );
  }
  return { height: plot.bottom + 58, content };
}

const scales = { log: logScale, linear: linearScale };

/** From zero to a round value above the greatest, in six steps at most. */
function linearScale(values: readonly number[], from: number, to: number) {
  const most = Math.max(...values);
  const unit = 10 ** Math.floor(Math.log10(most / 6));
  const step = unit * ([1, 2, 5].find((times) => most <= 6 * times * unit) ?? 10);
  const steps = Math.ceil(most / step);
  return {
    ticks: Array.from({ length: steps + 1 }, (_, index) => index * step),
    place: (value: number) => round(from + (value / (steps * step)) * (to - from)),
  };
}

/** From the power of ten below the least value to the one above the greatest. */
function logScale(values: readonly number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return {
    ticks: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)),
    place: (value: number) => round(from + ((Math.log10(value) - low) / (high - low)) * (to - from)),
  };
}

function text(x: number, y: number, content: string, kind: string, anchor = 'start'): string {
  const named = kind === '' ? '' : ` class="${kind}"`;
  return `<text x="${round(x)}" y="${round(y)}"${named} text-anchor="${anchor}">${escapeXml(content)}</text>`;
}

function formatFigure(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: value < 1 ? 1 : 3 });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(content: string): string {
  return content
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
