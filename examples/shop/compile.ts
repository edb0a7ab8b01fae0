/**
 * `node --import ./compile.ts nestjs.ts`: Node runs TypeScript, but no decorators. Your project compiles them with
 * `nest build`; this is for the example alone.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import ts from 'typescript';

const { ESNext: module } = ts.ModuleKind;
const compilerOptions = { module, target: ts.ScriptTarget.ES2023, experimentalDecorators: true };

registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/nestjs.ts')) return next(url, context);
    const fileName = new URL(url).pathname;
    const { outputText } = ts.transpileModule(readFileSync(new URL(url), 'utf8'), {
      fileName,
      compilerOptions,
    });
    return { format: 'module', source: outputText, shortCircuit: true };
  },
});
