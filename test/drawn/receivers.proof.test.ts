import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { attackReceiver } from '../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { isThorough, some, times } from '../support/repeat.ts';
import { scratchFolder } from '../support/scratch.ts';
import { partnerCredentials } from './partner.ts';
import { type Played, playService } from './play-service.ts';
import { findPrograms, notInProcess, type Program, runProgram, variables } from './programs.ts';
import { type Receiver, registry } from './shims/registry.ts';
import { judge, type Verdicts } from './verdicts.ts';

const programs = findPrograms();
const runnable = programs.filter(({ name }) => notInProcess[name] === undefined);
const receivers: Receiver[] = [];
const failed: string[] = [];

registry.folder = scratchFolder(afterAll);

beforeAll(async () => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  for (const method of ['log', 'warn', 'error'] as const)
    vi.spyOn(console, method).mockImplementation(() => {});
  for (const program of runnable) await start(program);
}, 120_000);

afterAll(async () => {
  for (const receiver of receivers) await receiver.stop().catch(() => {});
  for (const server of registry.servers) server.close();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

async function start(program: Program): Promise<void> {
  try {
    const recipes = await runProgram(program);
    for (const recipe of recipes.slice(-1)) {
      const name = program.name.replaceAll(/\W/g, '-');
      const receiver = registry.makeReceiver?.(recipe, name) ?? expect.unreachable();
      receivers.push(receiver);
    }
    if (recipes.length === 0) failed.push(`${program.name}: made no receiver`);
  } catch (error) {
    failed.push(`${program.name}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

describe('the receiver of each guide and example, as written there', () => {
  it('runs in this process, unless a reason is given', () => {
    expect(failed).toEqual([]);
    expect(Object.keys(notInProcess).filter((name) => !programs.some((each) => each.name === name))).toEqual(
      [],
    );
    expect(receivers.length).toBeGreaterThan(25);
  });

  it('loses no authentic event of a drawn service: it handles, keeps or refuses it with 5xx', async () => {
    const services = times(20, 150);
    const played: Played[] = [];
    for (let seed = 0; seed < services; seed++) {
      // Each receiver gets every tenth service: all of them with all of these would take half an hour.
      const chosen = receivers.filter((_, index) => seed % 10 === index % 10);
      played.push(...(await playService(seed, chosen)));
    }
    // Documented events alone would lose nothing anywhere.
    expect(played.length).toBeGreaterThan(times(100, 400));
    const verdicts: Awaited<ReturnType<typeof judge>>[] = [];
    // One after another: all stores at once would outlast their time limit on a busy machine.
    for (const receiver of receivers) verdicts.push(await judge(receiver, played));
    if (isThorough) console.info(table(verdicts));
    expect(verdicts.flatMap(({ breaches }) => breaches).slice(0, 40)).toEqual([]);
  }, 3_600_000);

  it('passes the attack with authentic events in another shape, and drops none of them', async () => {
    for (const receiver of some(receivers, 10)) {
      const answers = new Map<string, number[]>();
      const { findings } = await attackReceiver('https://partner.example/orders/P-1', {
        credentials: partnerCredentials,
        iOwnThisHost: 'partner.example',
        only: ['authentic-unfamiliar', 'authentic-other-shape'],
        async fetch(input, init) {
          const text = String(init?.body);
          const response = await receiver.fetch(new Request(input, init));
          answers.set(text, [...(answers.get(text) ?? []), response.status]);
          return response;
        },
      });
      expect(findings, receiver.program).toEqual([]);
      const posted = [...answers].map(([text, statuses]) => {
        return { seed: 0, name: 'of the attack', text, answers: new Map([[receiver, statuses]]) };
      });
      expect(posted.length).toBeGreaterThan(10);
      expect((await judge(receiver, posted)).breaches).toEqual([]);
    }
  }, 600_000);
});

function table(verdicts: readonly Verdicts[]): string {
  const columns = ['handled', 'kept', 'refused', 'ignored', 'lost', 'other'] as const;
  const rows = verdicts.map(({ program, kind, counts }) => [
    program.padEnd(48),
    kind.padEnd(7),
    ...columns.map((column) => String(counts[column]).padStart(8)),
  ]);
  const head = ['program'.padEnd(48), 'inbox'.padEnd(7), ...columns.map((column) => column.padStart(8))];
  return [head, ...rows].map((row) => row.join(' ')).join('\n');
}
