/*
 * Where a verification spends its time: verify + parse + narrow a 923-byte event, under the sampling profiler.
 *
 *     node test/proof/profile.ts [--seconds 6] [--serialization as-sent]
 *
 * Prints the functions by self time and the calls that lead there, and leaves no file behind. The sampler itself takes
 * time, so these are shares, not speeds: those are what `npm run bench` measures.
 */
import { createHmac } from 'node:crypto';
import { type Profiler, Session } from 'node:inspector';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { parseOrderEvent } from '../../src/events/parse-order-event.ts';
import type { Serialization } from '../../src/signature/serializations.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { type SignatureScheme, schemeParts } from '../../src/signature/signature-scheme.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { sampleKey, sampleText } from '../bench/sample-event.ts';
import { sizeFlags, sizeOf } from '../support/search-size.ts';

const { values: flags } = parseArgs({
  options: { ...sizeFlags, serialization: { type: 'string', default: 'as-sent' } },
});
const { ms = 6_000 } = sizeOf(flags, { rounds: 1 });
const serialization = nameOf(flags.serialization);
const warmups = 50_000;

const profile = record(bodyFor(serialization), ms);
const total = profile.timeDeltas?.reduce((sum, delta) => sum + delta, 0) ?? 0;
const share = (microseconds: number) => `${((microseconds / total) * 100).toFixed(1)} %`.padStart(7);

console.log(`Self time of verify + parse + narrow, ${serialization}, ${profile.samples?.length} samples`);
const selfTimes = [...selfTimesOf(profile)].sort(([, one], [, other]) => other - one);
for (const [where, time] of selfTimes.slice(0, 15)) console.log(`${share(time)}  ${where}`);
console.log('Total time by call, from 3 %');
printCalls(profile);
if (serialization === 'as-sent') printSerializations();

function record(body: Body, milliseconds: number): Profiler.Profile {
  const session = new Session();
  session.connect();
  for (let call = 0; call < warmups; call++) receive(body);
  // A session in the same thread answers before `post` returns.
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: 200 });
  session.post('Profiler.start');
  const until = performance.now() + milliseconds;
  while (performance.now() < until) for (let call = 0; call < 256; call++) receive(body);
  let recorded: Profiler.Profile | undefined;
  session.post('Profiler.stop', (error, result) => {
    if (error === null) recorded = result.profile;
  });
  session.disconnect();
  if (recorded === undefined) throw new Error('The profiler did not answer.');
  return recorded;
}

interface Body {
  readonly bytes: Uint8Array;
  readonly scheme: SignatureScheme;
}

function receive({ bytes, scheme }: Body): void {
  const { kind } = parseOrderEvent(verifyBody(bytes, { key: sampleKey, scheme }).value);
  if (kind !== 'known') throw new Error('The sample event is not a known one.');
}

function bodyFor(one: Serialization): Body {
  const scheme = Object.freeze({ construction: 'hmac', serialization: one, encoding: 'hex' } as const);
  return { scheme, bytes: Buffer.from(signBody(JSON.parse(sampleText), { key: sampleKey, scheme }).text) };
}

function nameOf(given: string): Serialization {
  const found = schemeParts.serialization.find((one) => one === given);
  if (found === undefined) throw new Error(`No serialization is called ${given}.`);
  return found;
}

/** Where a node of the profile stands: a native function and the engine's own work have no file. */
function placeOf({ callFrame: { functionName, url, lineNumber } }: Profiler.ProfileNode): string {
  // zod compiles a parser for each schema.
  if (url === '') return functionName === '' ? '(generated code)' : functionName;
  const name = functionName === '' ? '(anonymous)' : functionName;
  return `${name}  ${url.startsWith('node:') ? url : `${basename(url)}:${lineNumber + 1}`}`;
}

function timesByNode({ samples = [], timeDeltas = [] }: Profiler.Profile): Map<number, number> {
  const times = new Map<number, number>();
  for (const [index, id] of samples.entries()) times.set(id, (times.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  return times;
}

function selfTimesOf(recorded: Profiler.Profile): Map<string, number> {
  const byNode = timesByNode(recorded);
  const byPlace = new Map<string, number>();
  for (const node of recorded.nodes) {
    const place = placeOf(node);
    byPlace.set(place, (byPlace.get(place) ?? 0) + (byNode.get(node.id) ?? 0));
  }
  return byPlace;
}

/** The flame lying on its side: each call with all that it calls, beneath its caller. */
function printCalls(recorded: Profiler.Profile): void {
  const times = timesByNode(recorded);
  const nodes = new Map(recorded.nodes.map((node) => [node.id, node]));
  const totalOf = (node: Profiler.ProfileNode): number =>
    childrenOf(node).reduce((sum, child) => sum + totalOf(child), times.get(node.id) ?? 0);
  const childrenOf = ({ children = [] }: Profiler.ProfileNode) =>
    children.flatMap((id) => nodes.get(id) ?? []);
  const print = (node: Profiler.ProfileNode, depth: number): void => {
    const time = totalOf(node);
    if (time < total * 0.03) return;
    console.log(`${share(time)}  ${'  '.repeat(depth)}${placeOf(node)}`);
    for (const child of childrenOf(node).sort((one, other) => totalOf(other) - totalOf(one)))
      print(child, depth + 1);
  };
  const receiving = recorded.nodes.filter(({ callFrame }) => callFrame.functionName === 'receive');
  for (const node of receiving) print(node, 0);
}

/** Verifying alone, in turns with the least that anyone has to do: a hash of the text and JSON.parse. */
function printSerializations(): void {
  const bodies = schemeParts.serialization.map((one) => ({ one, body: bodyFor(one), times: [] as number[] }));
  const baseline: number[] = [];
  for (let round = 0; round < 60; round++) {
    baseline.push(
      timeOf(() => [
        createHmac('sha512', sampleKey).update(sampleText).digest('hex'),
        JSON.parse(sampleText),
      ]),
    );
    for (const { body, times } of bodies) {
      times.push(timeOf(() => verifyBody(body.bytes, { key: sampleKey, scheme: body.scheme })));
    }
  }
  console.log('Verifying the bytes / (createHmac + JSON.parse of the text), medians of rounds in turns');
  for (const { one, times } of bodies)
    console.log(`  ${one.padEnd(16)} ${(median(times) / median(baseline)).toFixed(2)}`);
}

function timeOf(act: () => unknown): number {
  const start = performance.now();
  for (let call = 0; call < 200; call++) act();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
