import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import {
  attackCases,
  attackCauses,
  baselineCase,
} from '../../../src/devtools/diagnostics/attack/case-table.ts';
import type { Cause } from '../../../src/devtools/diagnostics/attack/causes.ts';
import { explains } from '../../../src/devtools/diagnostics/attack/findings.ts';

const faultsPage = read('attack-faults.md');
const ids = ['authentic', ...attackCases.map(({ id }) => id)];
const faults = faultsPage
  .split(/^### /m)
  .slice(1)
  .map((section) => {
    const [id = '', ...blocks] =
      section
        .split(/^## /m)[0]
        ?.trim()
        .split(/\n\n(?!\s)/) ?? [];
    const code = [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
    const isProse = (block: string) => !block.startsWith('```') && !block.startsWith('Cases: ');
    const [fault = '', ...advice] = blocks.filter(isProse);
    const list = blocks.find((block) => block.startsWith('Cases: ')) ?? '';
    return {
      id,
      fault,
      advice: advice.join('\n'),
      words: [fault, ...advice].join(' ').split(/\s+/).length,
      languages: code.map(([, language]) => language),
      script: code.find(([, language]) => language === 'js')?.[2] ?? '',
      // A heading that is a case is the first one.
      cases: [
        ...ids.filter((each) => each === id),
        ...[...list.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
      ],
      sections: [...list.matchAll(/\(#([^)]+)\)/g)].map(([, name = '']) => name),
    };
  });

describe('docs/details/attack-faults.md', () => {
  it('has every case of the attack in one section, and every finding as an address', () => {
    expect(new Set(ids).size).toBe(ids.length);
    const listed = faults.flatMap(({ cases }) => cases);
    expect(listed.toSorted()).toEqual(ids.toSorted());
    const headings = faults.map(({ id }) => id);
    expect(new Set(headings).size).toBe(headings.length);
    const findings = Object.keys(attackCauses);
    expect(findings.filter((id) => !headings.includes(id))).toEqual([]);
    // Any case can be a finding by itself.
    expect(headings.filter((id) => !findings.includes(id) && !ids.includes(id))).toEqual([]);
    const anchors = [...faultsPage.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
    expect([...headings.filter((id) => ids.includes(id)), ...anchors].toSorted()).toEqual(ids.toSorted());
  });

  it('begins each section with what the receiver does, as the finding says it', () => {
    // Without words of its own a finding has the words of a case.
    const summaries = Object.entries<Cause>(attackCauses).flatMap(([id, { what }]) =>
      what === undefined ? [] : [[id, `**${what}**`]],
    );
    const named = new Map(faults.map(({ id, fault }) => [id, fault]));
    expect(summaries.map(([id = '']) => [id, named.get(id)])).toEqual(summaries);
    expect(faults.filter(({ fault }) => !/^\*\*[^*\n]+[^.]\*\*$/.test(fault))).toEqual([]);
  });

  it('shows each fault in three languages, and says what to do in at most sixty words', () => {
    const languages = faults.map(({ id, languages }) => [id, languages]);
    expect(languages).toEqual(faults.map(({ id }) => [id, ['js', 'python', 'php']]));
    expect(faults.filter(({ words, advice }) => words > 60 || advice === '')).toEqual([]);
  });

  it('has only JavaScript that parses, without types', () => {
    // At once: a program for each takes seconds.
    const errors = (scripts: readonly string[]) => {
      const program = scripts.map((script) => `async () => {\n${script}};\n`).join('');
      const { diagnostics } = ts.transpileModule(program, { fileName: 'fault.mjs', reportDiagnostics: true });
      return diagnostics?.map(({ messageText, start }) =>
        `${messageText} ${program.slice(start)}`.slice(0, 200),
      );
    };
    expect(errors(faults.map(({ script }) => script))).toEqual([]);
    expect(errors(['const seen: Set<string> = new Set();\n'])).toHaveLength(1);
  });

  it('names cases that show the fault, in its section or in one to which it leads', () => {
    const casesOf = new Map(faults.map(({ id, cases }) => [id, cases]));
    const wrong = Object.entries<Cause>(attackCauses).filter(([id, cause]) => {
      const { cases = [], sections = [] } = faults.find((fault) => fault.id === id) ?? {};
      const all = [...cases, ...sections.flatMap((section) => casesOf.get(section) ?? [])];
      return (
        !all.some((name) => shows(id, cause, name)) || !cases.every((name) => canExplain(id, cause, name))
      );
    });
    expect(wrong.map(([id]) => id)).toEqual([]);
  });

  it('has for each cause cases that it can explain among those that show it', () => {
    const wrong = Object.entries<Cause>(attackCauses).flatMap(([id, cause]) =>
      Object.values(cause.shownBy ?? {}).flatMap((names) =>
        names === 'every case'
          ? []
          : names.filter((name) => !canExplain(id, cause, name)).map((name) => [id, name]),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('leads from a section without cases of its own to those that have them', () => {
    const withCases = faults.filter(({ cases }) => cases.length > 0).map(({ id }) => id);
    const without = faults.filter(({ cases }) => cases.length === 0);
    expect(without.filter(({ sections }) => sections.length === 0)).toEqual([]);
    expect(without.flatMap(({ sections }) => sections.filter((id) => !withCases.includes(id)))).toEqual([]);
  });
});

const outcomes = [
  'accepted',
  'lost',
  'dropped',
  'repeated',
  'retried',
  'forgotten',
  'acted',
  'failed',
] as const;
const others = ['redirected', 'closed', 'late', 'banned', undefined] as const;

/** Whether the cause explains a failure of the case, in some outcome. */
function canExplain(id: string, cause: Cause, name: string): boolean {
  const probe = [baselineCase, ...attackCases].find((each) => each.id === name) ?? expect.unreachable(name);
  return [...outcomes, ...others].some((problem) =>
    explains(id, cause, { ...probe, answered: '', verdict: 'broken', problem }),
  );
}

function shows(id: string, cause: Cause, name: string): boolean {
  if (cause.shownBy === undefined) return canExplain(id, cause, name);
  return Object.values(cause.shownBy).some(
    (names) => names === 'every case' || names.some((each) => each === name),
  );
}

function read(file: string): string {
  return readFileSync(join(import.meta.dirname, '../../../docs/details', file), 'utf8');
}
