import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/*
 * Paths of the tests that use the product from outside. `npm run test:node -- 24 [part of a path …]` runs these tests,
 * or those that match a part, with another version of Node. It installs that version from npm in the system's folder
 * for temporary files. Without a network, it skips the tests with a message.
 */
const BLACK_BOX: readonly string[] = [
  'emulator/bundle/',
  'emulator/cli/cli.test',
  'emulator/cli/commands/exec.test',
  'emulator/cli/commands/start.test',
  'emulator/test/package/completion',
  'emulator/test/git/git-stories',
  'emulator/test/operations/webhooks',
  'emulator/test/world/snapshots',
  'conformance/cli/',
  'conformance/test/each-rule',
  'conformance/test/emulator.test',
];

const { positionals } = parseArgs({ allowPositionals: true });
const [version = '', ...parts] = positionals;
if (!/^\d+(\.\d+){0,2}$/.test(version)) {
  console.error('npm run test:node -- VERSION [part of a path …], such as 24.');
  process.exit(2);
}
const node = await installNode(version);
if (node === undefined) console.log(`skipped: Node ${version} could not be installed from npm`);
else {
  await run(node, ['--version']);
  const all = fileURLToPath(new URL('./all.js', import.meta.url));
  process.exitCode = await run(node, [all, ...(parts.length > 0 ? parts : BLACK_BOX)]);
}

/**
 * Installs a version of Node from npm in a temporary folder. Returns the path of the program. Undefined if npm cannot
 * install it.
 */
async function installNode(version: string): Promise<string | undefined> {
  const folder = join(tmpdir(), `node-${version}-from-npm`);
  const program = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const name = `node-${process.platform}-${process.arch}@${version}`;
  const code = await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', name], folder);
  return code === 0 && existsSync(program) ? program : undefined;
}

function run(program: string, args: readonly string[], cwd = process.cwd()): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', () => resolve(1));
    child.once('close', (code) => resolve(code ?? 1));
  });
}
