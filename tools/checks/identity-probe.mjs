// Copied into a project that has the package installed. Arguments: the entries. Fails where importing and
// requiring an entry give different things, where the contract as data cannot be imported, where two entries give different
// things under one name, or where the build has renamed what is exported: stack traces show the name of a class.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const problems = [];
const first = new Map();

for (const specifier of process.argv.slice(2)) {
  const imported = await import(specifier);
  const required = require(specifier);
  const names = Object.keys(imported);
  if (names.length === 0) problems.push(`${specifier} exports nothing`);
  if (String(names) !== String(Object.keys(required)))
    problems.push(`${specifier}: require gives other names`);
  for (const name of names) {
    const value = imported[name];
    if (value !== required[name]) problems.push(`${specifier}: require gives another ${name}`);
    if (typeof value === 'function' && value.name !== name)
      problems.push(`${specifier}: ${name} is called ${value.name}`);
    const other = first.get(name);
    if (other === undefined) first.set(name, { specifier, value });
    else if (other.value !== value)
      problems.push(`${name} of ${specifier} is not that of ${other.specifier}`);
  }
}

const contract = require('partner-exchange-sdk/contract/openapi.json');
const order = require('partner-exchange-sdk/contract/schemas/createOrder.json');
if (contract.openapi !== '3.1.0' || order.title !== 'CreateOrderRequest')
  problems.push('the contract cannot be imported');

if (problems.length > 0) throw new Error(problems.join('\n'));
