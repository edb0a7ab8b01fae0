import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './entries.ts';

/** Folders of `test` that search and measure: `npm run prove` and the benchmarks run them. */
const searchers = ['bench', 'chaos', 'crash', 'proof'];

/** Milliseconds for which a busy machine may let a program stand still. */
const stallMs = 1_000;

/** Options and variables that limit work or hold a lease. 0 ends the work at once, whatever the time. */
const limit = /^(?:lease|lock|cooldown|timeLimit|stop\w*|\w*[tT]imeout)Ms$/;

/** An option beside a limit by which the test holds the clock. */
const clockOption = /^(?:now|sleep)$/;

const upperBound = /^expect\(([\s\S]+)\)\s*\.toBeLessThan\w*$/;

/**
 * Lines of tests that depend on how busy the machine is: sleeps, limits and leases under a second while no test holds
 * the clock, upper bounds of measured time, and retries. `// real time: <why>` on the line or above it allows one.
 * @param sources text of each file, by path below the repository
 */
export function findRealTime(sources: Readonly<Record<string, string>> = readTests()): string[] {
  return Object.entries(sources).flatMap(([file, text]) => findInFile(file, text));
}

function readTests(): Record<string, string> {
  const exclude = ['**/node_modules', ...searchers.map((folder) => `test/${folder}`)];
  const files = globSync('test/**/*.ts', { cwd: root, exclude }).sort();
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

function findInFile(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lines = text.split('\n');
  const hasFakeTimers = text.includes('vi.useFakeTimers(');
  const [promises, alias = 'setTimeout'] =
    /\bsetTimeout(?: as (\w+))?[^;]*'node:timers\/promises'/.exec(text) ?? [];
  const sleepName = promises === undefined ? undefined : alias;
  const measured = new Set<string>();
  const problems: string[] = [];
  const report = (node: ts.Node, problem: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    const near = `${/^\s*\/\/.*/.exec(lines[line - 1] ?? '')?.[0]}\n${lines[line]}`;
    if (!/\/\/ real time: \S/.test(near)) problems.push(`${file}:${line + 1}: ${problem}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && isMeasured(node.initializer, measured))
      measured.add(node.name.getText());
    if (isUpperBound(node, measured)) report(node, 'an upper bound of measured time');
    if (!hasFakeTimers && isSleep(node, sleepName)) report(node, 'a sleep');
    if (!hasFakeTimers && isShortLimit(node)) report(node, `a limit under a second: ${node.getText()}`);
    if (isRetry(node)) report(node, 'a retry, which hides what fails by chance');
    ts.forEachChild(node, visit);
  };
  visit(source);
  return problems;
}

/** Without a delay, or with 0, it only gives others a turn. */
function isSleep(node: ts.Node, sleepName: string | undefined): boolean {
  if (!ts.isCallExpression(node)) return false;
  const name = node.expression.getText();
  const [first, second] = node.arguments;
  if (name === 'AbortSignal.timeout') return isShort(first);
  const isPromised = name === sleepName || /^(?:delay|sleep\w*)$/.test(name);
  const ms = isPromised ? first : /^(?:globalThis\.)?setTimeout$/.test(name) ? second : undefined;
  return ms !== undefined && ms.getText() !== '0';
}

function isShortLimit(node: ts.Node): boolean {
  if (ts.isVariableDeclaration(node)) {
    const { name, initializer: values } = node;
    if (!ts.isArrayBindingPattern(name) || !values || !ts.isArrayLiteralExpression(values))
      return limit.test(name.getText()) && isShort(values);
    return name.elements.some(
      (element, index) => limit.test(element.getText()) && isShort(values.elements[index]),
    );
  }
  if (!ts.isPropertyAssignment(node)) return false;
  const hasClock = node.parent.properties.some((member) => clockOption.test(member.name?.getText() ?? ''));
  return limit.test(node.name.getText()) && isShort(node.initializer) && !hasClock;
}

/** A whole number, as every limit is; others are refused. */
function isShort(value: ts.Expression | undefined): boolean {
  if (value === undefined) return false;
  if (ts.isConditionalExpression(value)) return isShort(value.whenTrue) || isShort(value.whenFalse);
  const ms = ts.isNumericLiteral(value) ? Number(value.text) : 0;
  return Number.isInteger(ms) && ms > 0 && ms < stallMs;
}

/** A difference of times, or the time itself. */
function isMeasured(value: ts.Expression | undefined, measured: ReadonlySet<string>): boolean {
  if (value === undefined) return false;
  return (ts.isBinaryExpression(value) || ts.isCallExpression(value)) && isTime(value.getText(), measured);
}

function isTime(text: string, measured: ReadonlySet<string>): boolean {
  return /^(?:performance|Date)\.now\(\)/.test(text) || text.split(/\W+/).some((word) => measured.has(word));
}

/** `expect(performance.now() - began).toBeLessThan(…)`. */
function isUpperBound(node: ts.Node, measured: ReadonlySet<string>): boolean {
  const [, value] = (ts.isCallExpression(node) && upperBound.exec(node.expression.getText())) || [];
  return value !== undefined && isTime(value, measured);
}

/** Of a test, not of a client: those have an object, and rows of wrong options stand in arrays. */
function isRetry(node: ts.Node): boolean {
  if (!ts.isPropertyAssignment(node) || ts.isArrayLiteralExpression(node.parent.parent)) return false;
  return node.name.getText() === 'retry' && ts.isNumericLiteral(node.initializer);
}

if (import.meta.main) {
  const problems = findRealTime();
  for (const problem of problems)
    console.error(`${problem}: say why in "// real time: …", or give the test a clock`);
  if (problems.length > 0) process.exitCode = 1;
}
