// Prints how many milliseconds a fresh process takes to import the module that its argument names.
const [, , module] = process.argv;
const start = performance.now();
await import(module);
console.log(performance.now() - start);
