import { resolve } from 'node:path';
import { type Deployment, defineDeployment } from '../../../deployment/define-deployment.ts';
import { type DeploymentFile, readDeploymentFile } from '../../../deployment/learnt-deployment.ts';
import { codeOf } from '../../../errors/errors.ts';
import { isJsonObject, tryParse } from '../../../internal/json.ts';
import { printableText } from '../../../internal/printable-text.ts';
import { decodeUtf8 } from '../../../internal/utf8.ts';
import type { SigningOracle } from '../../diagnostics/learn/ask-oracle.ts';
import {
  type Learnt,
  type LearntRow,
  type LearntVerdict,
  learn,
} from '../../diagnostics/learn/learn-from-samples.ts';
import { describePostAnswer, isAccepted, postRequest } from '../../diagnostics/post-request.ts';
import { samplesIn } from '../deliveries/captured-samples.ts';
import { allCredentials, readConfiguration } from '../inputs/configuration.ts';
import { writeWholeFile } from '../inputs/folders.ts';
import { inFile, readInput, readJsonObject, shownPath } from '../inputs/input.ts';
import { defineCommand } from '../terminal/command.ts';
import { type CliContext, CliError, type ExitCode, exitCodes } from '../terminal/context.ts';
import { findingLines } from '../terminal/finding-lines.ts';
import { arg, formatFlags, keysFlag, manyArgs, textFlag, toggle, webAddress } from '../terminal/flags.ts';
import { countBy, type Output, openOutput } from '../terminal/output.ts';
import type { Paint, Style } from '../terminal/terminal-text.ts';

const flags = {
  write: textFlag.optional('file', 'Write a deployment file: what to set, with the evidence for it'),
  check: textFlag.optional(
    'file',
    'Say what differs from this deployment file, and exit with 1 if anything does',
  ),
  oracle: webAddress.optional('url', 'Let this endpoint of the service sign a body with a throw-away secret'),
  all: toggle('Print the rows that no sample decided, too'),
  keys: keysFlag,
  ...formatFlags,
};

export default defineCommand({
  brief: 'Find out how the service signs and behaves, from captured events and replies',
  about:
    'Reads saved deliveries (listen --save) and replies (.jsonl files of what onResponse and onNoResponse get), finds the scheme that signed them, and says of each assumption whether they prove or refute it, and what to set. Events that none of your keys signed prove nothing. --oracle asks an endpoint that signs any body with any secret (reported), the one way to the scheme before the first event. A file that cannot be read is named, and the rest is read. Without --write and --check the rows are compared with the environment. PARTNER_EXCHANGE_DEPLOYMENT takes the file that --write makes.',
  examples: [
    'partner-exchange learn ./events',
    'partner-exchange learn ./events --write deployment.json',
    'partner-exchange learn ./events --check deployment.json --format json',
    'partner-exchange learn ./events replies.jsonl --keys keys.json',
    'partner-exchange learn --oracle https://onboarding.example/api/v1/no-auth/PartnerP2P/SignRequestSha512/',
  ],
  json: 'What learn returns, without file; with --check { drift, deliveries, replies }, the rows that no longer hold',
  flags,
  args: manyArgs(
    arg(
      'file',
      'Saved deliveries, .jsonl files of replies, or folders of both (default: deliveries on stdin)',
    ),
  ),
  async run(context, { write, check, oracle, all, ...flags }, ...paths) {
    if (write !== undefined && check !== undefined) throw new CliError('Give --write or --check, not both.');
    const output = openOutput(context, flags);
    const configuration = await readConfiguration(context, flags);
    const file = check === undefined ? undefined : await readDeploymentOf(context, check);
    const isOracleAlone = oracle !== undefined && paths.length === 0;
    const learnt = await learn({
      ...(isOracleAlone
        ? {}
        : { ...(await samplesIn(context, output, paths)), credentials: allCredentials(configuration) }),
      oracle: oracle && signingEndpoint(context, oracle),
      deployment: deploymentToCompare(configuration.deployment, { write, check, file }),
    });
    if (learnt.replies.read === 0 && learnt.rows.every(({ samples }) => samples === 0))
      throw nothingLearnt(learnt);
    if (file !== undefined) return reportDrift(output, learnt, file);
    if (write !== undefined) await writeDeployment(context, write, learnt.file);
    const { file: _, ...report } = learnt;
    output.result(report, (paint) => [
      ...learnt.rows
        .filter(({ verdict }) => all || verdict !== 'not-seen')
        .flatMap((row) => describeRow(row, paint)),
      ...findingLines(learnt.findings, paint),
      describeCounts(learnt, all),
    ]);
    if (write !== undefined)
      output.status(
        `Wrote ${learnt.file.overrides.length} overrides to ${shownPath(write)}: name it as PARTNER_EXCHANGE_DEPLOYMENT.`,
      );
    return exitCodes.ok;
  },
});

function nothingLearnt({ deliveries, findings: [finding] }: Learnt): CliError {
  const reason = finding && ` ${finding.what} ${finding.advice ?? ''}`.trimEnd();
  const samples =
    deliveries.others === 0 ? '' : `: none of ${deliveries.others} deliveries is signed with these keys`;
  return new CliError(`Nothing was learnt${samples}.${reason ?? ''}`);
}

const oracleTimeoutMs = 30_000;
/** A signature, or a small signed body. */
const maxOracleBytes = 65_536;

/** An endpoint of the service that signs any body with any secret. */
function signingEndpoint({ fetch, signal }: CliContext, url: URL): SigningOracle {
  return async ({ body, secret }) => {
    const answer = await postRequest(
      {
        url: url.href,
        headers: { 'content-type': 'application/json' },
        body: `${body.slice(0, -1)},"secret":${JSON.stringify(secret)}}`,
      },
      { fetch, signal, timeoutMs: oracleTimeoutMs, maxAnswerBytes: maxOracleBytes },
    );
    if (answer.kind === 'answered' && answer.text !== undefined && isAccepted(answer)) return answer.text;
    const message = `${url.host} gave no signature: ${describePostAnswer(answer)}. Is it the signing endpoint?`;
    throw new CliError(message, { exitCode: exitCodes.findings });
  };
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

function describeRow(row: LearntRow, paint: Paint): string[] {
  const { id, verdict, samples, found } = row;
  const facts = printableText([countOf(samples), ...found].join('; '));
  const next = nextOf(row);
  return [
    `${paint(styles[verdict], verdict.padEnd(8))} ${paint('bold', id)}: ${facts}`,
    ...(next === undefined ? [] : [`${' '.repeat(9)}${printableText(next)}`]),
  ];
}

function countOf(samples: number): string {
  return samples === 1 ? '1 sample' : `${samples} samples`;
}

function nextOf({ set, override, howToSee, digest }: LearntRow): string | undefined {
  const sample = digest === undefined ? '' : ` (sample ${digest.slice(0, 12)})`;
  if (set !== undefined) return `set ${JSON.stringify(set)}${sample}`;
  return override === undefined ? howToSee : `decide: ${override}${sample}`;
}

function describeCounts({ rows, deliveries, replies }: Learnt, all: boolean): string {
  const notSeen = all ? 'not seen' : 'not seen (--all lists them)';
  const counts = countBy(rows, 'verdict').replace('not-seen', notSeen);
  return `${counts}, from ${deliveries.genuine} events and ${replies.read} replies.`;
}

/** A difference that a person has already seen does not count. */
function reportDrift(output: Output, learnt: Learnt, file: DeploymentFile): ExitCode {
  const settled = new Set(file.overrides.map(({ row }) => row));
  const drift = learnt.rows.filter(({ id, verdict, found }) => {
    const former = file.rows.find((row) => row.id === id);
    const isKnown =
      former?.verdict === 'refuted' && !settled.has(id) && found.every((fact) => former.found.includes(fact));
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

function describeDrift({ samples, found, set, override, digest }: LearntRow): string {
  const next = set === undefined ? `decide about ${override}` : `set ${JSON.stringify(set)}`;
  return `no longer holds: ${countOf(samples)} ${samples === 1 ? 'shows' : 'show'} ${found.join('; ')}; ${next} (sample ${digest ?? 'unknown'}).`;
}
