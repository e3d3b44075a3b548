#!/usr/bin/env node
// No top-level await: an old Node has to be able to read this file, or nobody tells it that it is old.
const [major, minor] = process.versions.node.split('.').map(Number);
const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;

async function run() {
  if (!isSupported)
    return refuse(`The conformance suite needs Node 20.19, 22.12, 24 or newer; this is ${process.versions.node}.`);
  const entry = new URL('../dist/conformance/cli/main.js', import.meta.url).href;
  let main;
  try {
    ({ main } = await import(entry));
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || error.url !== entry) throw error;
    return refuse('The conformance suite has not been built: run `npm run build` in its checkout.');
  }
  process.exitCode = await main(process.argv.slice(2));
}

function refuse(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 2;
}

void run();
