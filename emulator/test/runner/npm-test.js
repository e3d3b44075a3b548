import { spawnSync } from 'node:child_process';

/*
 * npm test: lints, builds and runs every test file. npm test -- PART…: builds, runs the test files whose path contains PART, and
 * lints the files that differ from the last commit. Not TypeScript, because nothing is compiled yet.
 */
const parts = process.argv.slice(2);

/** Runs a command to its end. Ends this process if it fails. */
function run(program, ...args) {
  const { status } = spawnSync(program, args, { stdio: 'inherit', shell: false });
  if (status !== 0) process.exit(status ?? 1);
}

/** Returns the files that differ from the last commit, or that Git does not know. Empty without Git. */
function changedFiles() {
  const list = (...args) => spawnSync('git', args, { encoding: 'utf8' }).stdout?.split('\0').filter(Boolean) ?? [];
  const changed = list('diff', '-z', '--name-only', '--diff-filter=d', 'HEAD');
  return [...changed, ...list('ls-files', '-z', '--others', '--exclude-standard')];
}

if (parts.length === 0) run('npm', 'run', '--silent', 'lint');
run('npm', 'run', '--silent', 'build');
run(process.execPath, 'dist/emulator/test/runner/all.js', ...parts);
if (parts.length > 0) {
  const sources = changedFiles().filter((file) => /\.(ts|tsx|js|json|css)$/.test(file));
  if (sources.length > 0) {
    const flags = ['--no-errors-on-unmatched', '--files-ignore-unknown=true'];
    run(process.execPath, 'node_modules/@biomejs/biome/bin/biome', 'check', ...flags, ...sources);
  }
}
