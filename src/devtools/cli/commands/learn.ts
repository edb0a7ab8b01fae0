import { resolve } from 'node:path';
import { type Deployment, defineDeployment } from '../../../deployment/define-deployment.ts';
import { type DeploymentFile, readDeploymentFile } from '../../../deployment/learnt-deployment.ts';
import { codeOf } from '../../../errors/errors.ts';
import { isJsonObject, tryParse } from '../../../internal/json.ts';
import { printableText } from '../../../internal/printable-text.ts';
import { decodeUtf8 } from '../../../internal/utf8.ts';
import {
  type Learnt,
  type LearntRow,
  type LearntVerdict,
  learn,
} from '../../diagnostics/learn/learn-from-samples.ts';
import { explainMismatch } from '../../diagnostics/mismatch/explain-mismatch.ts';
import { samplesIn } from '../deliveries/captured-samples.ts';
import type { NamedDelivery } from '../deliveries/saved-deliveries.ts';
import { allCredentials, readConfiguration } from '../inputs/configuration.ts';
import { writeWholeFile } from '../inputs/folders.ts';
import { inFile, readInput, readJsonObject, shownPath } from '../inputs/input.ts';
import { defineCommand } from '../terminal/command.ts';
import { type CliContext, CliError, type ExitCode, exitCodes } from '../terminal/context.ts';
import { arg, formatFlags, keysFlag, manyArgs, textFlag } from '../terminal/flags.ts';
import { countBy, type Output, openOutput } from '../terminal/output.ts';
import { tableLines } from '../terminal/table.ts';
import type { Paint, Style } from '../terminal/terminal-text.ts';

const flags = {
  write: textFlag.optional('file', 'Write a deployment file: what to set, with the evidence for it'),
  check: textFlag.optional(
    'file',
    'Say what differs from this deployment file, and exit with 1 if anything does',
  ),
  keys: keysFlag,
  ...formatFlags,
};

export default defineCommand({
  brief: 'Find out which assumptions hold, from captured events and replies',
  about:
    'Reads saved deliveries (listen --save) and replies (.jsonl files of what onResponse and onNoResponse get), and says of each assumption whether they prove or refute it, and what to set. Events that none of your keys signed prove nothing. A file that cannot be read is named, and the rest is read. Without --write and --check the rows are compared with the environment. PARTNER_EXCHANGE_DEPLOYMENT takes the file that --write makes.',
  examples: [
    'partner-exchange learn ./events',
    'partner-exchange learn ./events --write deployment.json',
    'partner-exchange learn ./events --check deployment.json --format json',
    'partner-exchange learn ./events replies.jsonl --keys keys.json',
  ],
  json: 'What learn returns, without file; with --check { drift, deliveries, replies }, the rows that no longer hold',
  flags,
  args: manyArgs(
    arg(
      'file',
      'Saved deliveries, .jsonl files of replies, or folders of both (default: deliveries on stdin)',
    ),
  ),
  async run(context, { write, check, ...flags }, ...paths) {
    if (write !== undefined && check !== undefined) throw new CliError('Give --write or --check, not both.');
    const output = openOutput(context, flags);
    const configuration = await readConfiguration(context, flags);
    const file = check === undefined ? undefined : await readDeploymentOf(context, check);
    const { deliveries, replies } = await samplesIn(context, output, paths);
    const credentials = allCredentials(configuration);
    let first: Uint8Array | undefined;
    const learnt = await learn({
      deliveries: watchEach(deliveries, ({ body }) => {
        first ??= body;
      }),
      replies,
      credentials,
      deployment: deploymentToCompare(configuration.deployment, { write, check, file }),
    });
    const { genuine, others } = learnt.deliveries;
    if (genuine === 0 && first !== undefined) {
      const [finding] = explainMismatch(first, { credentials }).findings;
      output.warn(`None of your keys signed a delivery. Of the first: ${finding?.message}`);
    }
    if (genuine === 0 && learnt.replies.read === 0)
      throw new CliError(
        `Nothing was learnt: none of ${others} deliveries is signed with these keys, and there are no replies.`,
      );
    if (file !== undefined) return reportDrift(output, learnt, file);
    if (write !== undefined) await writeDeployment(context, write, learnt.file);
    const { file: _, ...shown } = learnt;
    output.result(shown, (paint) => [
      ...describeRows(context, learnt.rows, paint),
      ...describeCounts(learnt),
    ]);
    if (write !== undefined)
      output.status(
        `Wrote ${learnt.file.overrides.length} overrides to ${shownPath(write)}: name it as PARTNER_EXCHANGE_DEPLOYMENT.`,
      );
    return exitCodes.ok;
  },
});

async function* watchEach(
  deliveries: AsyncIterable<NamedDelivery>,
  watch: (delivery: NamedDelivery) => void,
): AsyncGenerator<NamedDelivery> {
  for await (const delivery of deliveries) {
    watch(delivery);
    yield delivery;
  }
}

/** A file is written for a deployment of defaults, and checked as what it sets. */
function deploymentToCompare(
  configured: Deployment,
  {
    write,
    check,
    file,
  }: { write: string | undefined; check: string | undefined; file: DeploymentFile | undefined },
): Deployment<unknown> {
  if (write !== undefined) return defineDeployment({});
  if (check === undefined) return configured;
  return inFile(check, () => defineDeployment({ learnt: file }));
}

async function readDeploymentOf(context: CliContext, path: string): Promise<DeploymentFile> {
  const value = readJsonObject(await readInput(context, path), path);
  return inFile(path, () => readDeploymentFile(value, 'it'));
}

/** Replaces an earlier deployment file, and no other file. */
async function writeDeployment(context: CliContext, path: string, file: DeploymentFile): Promise<void> {
  const target = resolve(context.cwd, path);
  const former = await readInput(context, target).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  const value = former && tryParse(decodeUtf8(former) ?? '');
  if (
    former !== undefined &&
    !String(isJsonObject(value) && value.format).startsWith('partner-exchange-deployment/')
  )
    throw new CliError(`${shownPath(path)} is there, and is no deployment file: name another one.`);
  await writeWholeFile(target, `${JSON.stringify(file, null, 2)}\n`);
}

const styles: Readonly<Record<LearntVerdict, Style>> = { proven: 'green', refuted: 'red', 'not-seen': 'dim' };

function describeRows({ stdout }: CliContext, rows: readonly LearntRow[], paint: Paint): string[] {
  return tableLines(
    rows,
    [
      { title: 'assumption', text: ({ id }) => id, isWhole: true },
      {
        title: 'verdict',
        text: ({ verdict }) => verdict,
        isWhole: true,
        style: ({ verdict }) => styles[verdict],
      },
      { title: 'samples', text: ({ samples }) => String(samples) },
      { title: 'found', text: ({ found }) => found.join('; ') },
      { title: 'next', text: nextOf },
    ],
    { stdout, paint },
  );
}

function nextOf({ set, person, howToSee, since, digest }: LearntRow): string {
  const sample = digest === undefined ? '' : ` (sample ${digest.slice(0, 12)})`;
  if (set !== undefined) return `set ${JSON.stringify(set)}${sample}`;
  if (person !== undefined) return `decide: ${person}${sample}`;
  return howToSee ?? (since === undefined ? '' : `since ${since}`);
}

function describeCounts({ rows, deliveries, replies }: Learnt): string[] {
  const counts = countBy(rows, 'verdict').replace('not-seen', 'not seen');
  const strangers = deliveries.others === 0 ? '' : `, and ${deliveries.others} deliveries that prove nothing`;
  return [`${counts}, from ${deliveries.genuine} events and ${replies.read} replies${strangers}.`];
}

/** A difference that a person has already seen is none. */
function reportDrift(output: Output, learnt: Learnt, file: DeploymentFile): ExitCode {
  const settled = new Set(file.overrides.map(({ row }) => row));
  const drift = learnt.rows.filter(({ id, verdict, found }) => {
    const former = file.rows.find((row) => row.id === id);
    const isKnown =
      former?.verdict === 'refuted' && !settled.has(id) && found.every((each) => former.found.includes(each));
    return verdict === 'refuted' && !isKnown;
  });
  const { deliveries, replies } = learnt;
  output.result({ drift, deliveries, replies }, (paint) => [
    ...drift.map((row) => `${paint('red', row.id)} ${printableText(describeDrift(row))}`),
    ...(drift.length === 0
      ? [
          `${paint('green', 'holds')}: ${deliveries.genuine} events and ${replies.read} replies contradict nothing.`,
        ]
      : []),
  ]);
  return drift.length === 0 ? exitCodes.ok : exitCodes.findings;
}

function describeDrift({ samples, found, set, person, digest }: LearntRow): string {
  const next = set === undefined ? `decide about ${person}` : `set ${JSON.stringify(set)}`;
  return `no longer holds: ${samples} ${samples === 1 ? 'sample shows' : 'samples show'} ${found.join('; ')}; ${next} (sample ${digest ?? 'unknown'}).`;
}
