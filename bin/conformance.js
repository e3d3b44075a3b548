#!/usr/bin/env node
'use strict';
// CommonJS, and nothing newer than an old Node can read: otherwise nobody is told that it is old.
const [major, minor] = process.versions.node.split('.').map(Number);
const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;

async function run() {
  if (!isSupported)
    return refuse(`The conformance suite needs Node 20.19, 22.12, 24 or newer; this is ${process.versions.node}.`);
  const { existsSync } = require('node:fs');
  const { join } = require('node:path');
  const bundles = join(__dirname, '..', 'dist', 'bundle');
  const entry = join(bundles, 'conformance', 'cli.cjs');
  if (!existsSync(entry))
    return refuse('The conformance suite has not been built: run `npm run build` in its checkout.');
  const { Bundle, codeCacheFolder } = require(join(bundles, 'loader', 'code-cache.cjs'));
  const bundle = new Bundle(entry, codeCacheFolder(process));
  const { main } = bundle.load();
  process.exitCode = await main(process.argv.slice(2));
  bundle.keepCode();
}

function refuse(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 2;
}

void run();
