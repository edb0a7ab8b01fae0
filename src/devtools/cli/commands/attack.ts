import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { isLoopbackHost } from '../../../deployment/base-url.ts';
import { tryParse } from '../../../internal/json.ts';
import type { AttackResult } from '../../diagnostics/attack/attack-case.ts';
import { attackReceiver } from '../../diagnostics/attack/attack-receiver.ts';
import type { AttackFinding } from '../../diagnostics/attack/findings.ts';
import type { Verdict } from '../../diagnostics/finding.ts';
import { currentCredentials, readConfiguration } from '../inputs/configuration.ts';
import { defineCommand } from '../terminal/command.ts';
import { type CliContext, CliError, exitCodes } from '../terminal/context.ts';
import { formatFlags, keysFlag, parseWebAddress, textFlag, toggle, wholeNumber } from '../terminal/flags.ts';
import { countBy, openOutput } from '../terminal/output.ts';
import { withoutSecrets } from '../terminal/secret-guard.ts';
import type { Paint, Style } from '../terminal/terminal-text.ts';

const styles: Readonly<Record<Verdict, Style>> = {
  ok: 'green',
  weak: 'yellow',
  broken: 'red',
  skipped: 'dim',
};

const flags = {
  iOwnThisHost: textFlag.optional(
    'name',
    'The name of the host, which says that it is yours; not needed for this machine',
  ),
  handledCommand: textFlag.optional(
    'command',
    'Your command that prints a number: how often your code acted on $PARTNER_ORDER_ID, or keeps an event of it',
  ),
  handles: textFlag.list(
    'event',
    'An event that must have an effect, not only be acknowledged; event.buy.credited.crypto if none is named',
  ),
  order: textFlag.optional(
    'id',
    'An order that exists, for the events that must have an effect: if your code acts on known orders alone',
  ),
  orderAddress: textFlag.optional(
    'address',
    'The buyer_crypto_address of that order, if your code compares it',
  ),
  failOn: {
    kind: 'enum',
    values: ['weak', 'broken'],
    brief: 'The mildest finding with which the command ends with 1',
    default: 'broken',
  },
  only: textFlag.list('id', 'Run this case alone, or some'),
  skip: textFlag.list('id', 'Leave this case out'),
  quick: toggle('Leave out the cases that take long'),
  timeoutMs: wholeNumber(1, 600_000).withDefault('ms', 'How long an answer may take', '10000'),
  keys: keysFlag,
  ...formatFlags,
} as const;

export default defineCommand({
  brief: 'Attack your receiver, and report its weaknesses',
  about:
    'Sends forged, altered, malformed, huge and repeated deliveries to a receiver in any language, and says what is wrong with it. Use test keys: the authentic ones among them are handled by your code, about orders whose ids begin with "probe-". With --handled-command it also judges what your code did. Exits with 1 if the receiver is broken, and with --fail-on weak also if it is weak.',
  examples: [
    'partner-exchange attack http://127.0.0.1:3000/orders',
    'partner-exchange attack http://127.0.0.1:3000/orders --handled-command "node handled.mjs"',
    'partner-exchange attack http://127.0.0.1:3000/orders --order A-1001',
    'partner-exchange attack https://test.partner.example/orders --i-own-this-host test.partner.example',
  ],
  json: "{ findings: [{ id, what, verdict: 'weak' | 'broken', cases, advice }], results: [{ id, what, expected, answered, verdict: 'ok' | 'weak' | 'broken' | 'skipped', advice? }], orders }",
  flags,
  args: [{ placeholder: 'url', brief: 'Where your receiver listens', parse: parseWebAddress }],
  async run(context, flags, url) {
    const output = openOutput(context, flags);
    const { iOwnThisHost, timeoutMs, only, skip, handles, quick, order, orderAddress } = flags;
    if (iOwnThisHost === undefined && !isLoopbackHost(url.hostname)) {
      throw new CliError(
        `${url.hostname} is not this machine: if it is yours, add --i-own-this-host ${url.hostname}.`,
      );
    }
    const configuration = await readConfiguration(context, flags);
    const handled = handledCount(context, flags.handledCommand, timeoutMs);
    // Fails before anything is sent if it cannot count.
    await handled?.('probe-none');
    let reportedAt = context.now();
    const { results, findings, orders } = await attackReceiver(url, {
      credentials: currentCredentials(configuration),
      deployment: configuration.deployment,
      iOwnThisHost,
      timeoutMs,
      handled,
      handles: handles?.length ? handles : undefined,
      order:
        order === undefined ? undefined : { partner_order_id: order, buyer_crypto_address: orderAddress },
      quick,
      only: only?.length ? only : undefined,
      skip,
      signal: context.signal,
      onCase(_, { done, left }) {
        if (context.now() - reportedAt < progressIntervalMs) return;
        reportedAt = context.now();
        output.status(`${done} done, ${left} left.`);
      },
    });
    output.result({ findings, results, orders }, (paint) => [
      ...findings.flatMap((finding) => describeFinding(finding, paint)),
      ...describeUnjudged(results, paint),
    ]);
    const summary = findings.length === 0 ? 'Nothing found' : `Found: ${countBy(findings, 'verdict')}`;
    output.status(`${summary}. Cases: ${countBy(results, 'verdict')}.`);
    if (orders.length > 0) output.status(describeOrders(orders));
    const isFailed = findings.some(({ verdict }) => verdict === 'broken' || verdict === flags.failOn);
    // If every case was skipped, the receiver was not judged.
    const isJudged = results.some(({ verdict }) => verdict !== 'skipped');
    return isJudged && !isFailed ? exitCodes.ok : exitCodes.findings;
  },
});

/** Says now and then that an attack goes on, since a slow receiver takes a minute or more. */
const progressIntervalMs = 10_000;

/** The inbox and the journal of the receiver may keep events of orders that nobody made. */
function describeOrders(orders: readonly string[]): string {
  const count = orders.length === 1 ? 'one order' : `${orders.length} orders`;
  return `Left behind: events about ${count} of the attack, such as "${orders[0]}", in whatever store the receiver keeps them.`;
}

const indent = ' '.repeat(8);

function describeFinding(finding: AttackFinding, paint: Paint): string[] {
  const { id, verdict, what, cases, advice } = finding;
  return [
    `${paint(styles[verdict], verdict.padEnd(7))} ${paint('bold', what)}`,
    `${indent}${advice}`,
    `${indent}${paint('dim', `shown by ${nameSome(cases)}`)}`,
    `${indent}${paint('dim', `see docs/details/attack-faults.md#${id}`)}`,
  ];
}

/** The first cases by name: one cause can show in dozens. */
function nameSome(cases: readonly string[]): string {
  const more = cases.length - mostNamed;
  if (more <= 1) return cases.join(', ');
  return `${cases.slice(0, mostNamed).join(', ')} and ${more} more (--format json lists them)`;
}

const mostNamed = 5;

/** One line for each reason why cases were skipped. */
function describeUnjudged(results: readonly AttackResult[], paint: Paint): string[] {
  const skipped = results.filter(({ verdict }) => verdict === 'skipped');
  return [...Map.groupBy(skipped, ({ answered }) => answered)].map(([reason, cases]) => {
    const ids = cases.length > 8 ? `${cases.length} cases` : cases.map(({ id }) => id).join(', ');
    return `${paint('dim', 'skipped')} ${ids}: ${reason}`;
  });
}

/** Asks the owner of a receiver how often it acted on an order. */
function handledCount(
  context: CliContext,
  command: string | undefined,
  timeoutMs: number,
): ((partnerOrderId: string) => Promise<number>) | undefined {
  if (command === undefined) return undefined;
  return async (id) => {
    const value = tryParse(await run(context, { command, timeoutMs, id }));
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw new CliError(
      '--handled-command must print a number and nothing else: how often the order was acted on, such as 2, and 0 for one that it does not know.',
    );
  };
}

/** Runs the command in a shell, as the user wrote it. The order id is in a variable, so nothing has to be quoted. */
async function run(
  { env, cwd, signal }: CliContext,
  { command, timeoutMs, id }: { readonly command: string; readonly timeoutMs: number; readonly id: string },
): Promise<string> {
  try {
    const { stdout } = await promisify(exec)(command, {
      cwd,
      env: { ...withoutSecrets(env), PARTNER_ORDER_ID: id },
      signal,
      timeout: timeoutMs,
      windowsHide: true,
    });
    return stdout;
  } catch (cause) {
    signal.throwIfAborted();
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const ending = typeof code === 'number' ? `ended with ${code}` : 'did not end in time';
    throw new CliError(`--handled-command ${ending}: run it yourself with PARTNER_ORDER_ID=${id} set.`, {
      cause,
    });
  }
}
