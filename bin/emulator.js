#!/usr/bin/env node
// No top-level await: an old Node has to be able to read this file, or nobody tells it that it is old.
const [major, minor] = process.versions.node.split('.').map(Number);
const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;

async function run() {
  if (!isSupported)
    return refuse(`The emulator needs Node 20.19, 22.12, 24 or newer; this is ${process.versions.node}.`);
  const [{ existsSync }, { fileURLToPath }] = await Promise.all([import('node:fs'), import('node:url')]);
  const bundles = new URL('../dist/bundle/', import.meta.url);
  const entry = new URL('emulator/cli.cjs', bundles);
  if (!existsSync(entry)) return refuse('The emulator has not been built: run `npm run build` in its checkout.');
  const { Bundle } = await import(new URL('loader/code-cache.cjs', bundles).href);
  const bundle = new Bundle();
  const { main } = bundle.load(fileURLToPath(entry));
  process.exitCode = await main(process.argv.slice(2));
  bundle.keepCode();
}

function refuse(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 2;
}

void run();
