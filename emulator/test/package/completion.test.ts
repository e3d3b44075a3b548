import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { packageFile } from '../../system/package-root.js';

const run = promisify(execFile);
const bin = join(t.testdir({}), 'bin');
await mkdir(bin);
for (const name of ['emulator', 'conformance']) await symlink(packageFile('bin', `${name}.js`), join(bin, name));
const env = { ...process.env, SHELL: '/bin/bash', PATH: `${bin}${delimiter}${process.env.PATH}` };

/** Returns the completions that bash offers for the last word, which is incomplete. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const [command] = words;
  const script = `source <(${command} completion)
    COMP_WORDS=("$@") COMP_CWORD=${words.length - 1}
    $(complete -p ${command} | sed 's/.*-F \\([^ ]*\\).*/\\1/')
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['-c', script, 'bash', ...words], { env });
  return stdout.trim().split('\n');
}

for (const [words, expected] of [
  [['emulator', 'snap'], ['snapshot']],
  [['emulator', 'start', '--ready'], ['--ready-file']],
  [
    ['emulator', 'token', '--sc'],
    ['--scopes', '--scenario'],
  ],
  [['conformance', 'expl'], ['explain']],
  [['conformance', 'run', '--basel'], ['--baseline']],
] as const) {
  t.test(`bash completes ${words.join(' ')}`, async (t) => {
    t.same((await offered(...words)).sort(), [...expected].sort());
  });
}

for (const command of ['emulator', 'conformance']) {
  t.test(`${command} --help says how completion is set up`, async (t) => {
    const { stdout } = await run(command, ['--help'], { env });
    t.match(stdout.replaceAll(/\s+/g, ' '), `source <(${command} completion)`);
  });
}
