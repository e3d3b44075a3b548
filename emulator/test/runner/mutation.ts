import { execFile } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { randomNumbers } from '../../git/test/random-numbers.js';
import { compile, type Mutant, mutantsOf } from './mutants.js';
import { TARGETS } from './mutation-targets.js';
import { runTestFiles } from './test-file.js';

// npm run mutation -- auth [--sample N] [--jobs N] [--file PART] [--fresh] [--again]
//
// npm run mutation -- --by conformance api,auth,http [--sample N] …
//
// Changes one place of the emulator's code at a time, and runs the tests of that part of the emulator until one fails.
// Prints the changes that no test detects.
//
// - `--by conformance` uses the conformance suite instead of the tests. The parts are then folders or files below
//   `emulator/`.
// - `--again` repeats the changes that no test detected.
// - `--fresh` repeats all changes.
//
// Results are stored in the folder for temporary files, so that a stopped run can be resumed.

const CHECKOUT = fileURLToPath(new URL('../../../../', import.meta.url));
const SEED = 20_261_101;

type Verdict = 'killed' | 'timeout' | 'survived';

interface Tested {
  readonly key: string;
  readonly verdict: Verdict;
  readonly by?: string;
}

const { values, positionals } = parseArgs({
  options: {
    sample: { type: 'string' },
    jobs: { type: 'string' },
    file: { type: 'string' },
    fresh: { type: 'boolean' },
    again: { type: 'boolean' },
    by: { type: 'string' },
  },
  allowPositionals: true,
});
const [name = ''] = positionals;
const isBySuite = values.by === 'conformance';
const target = isBySuite ? { sources: name.split(','), tests: [] } : TARGETS[name];
if (!target || name === '' || (values.by !== undefined && !isBySuite)) {
  console.error(
    `Parts: ${Object.keys(TARGETS).join(', ')}; with --by conformance, folders of emulator/, such as api,auth.`,
  );
  process.exit(2);
}
const label = isBySuite ? `conformance-${name.replace(/[,/]/g, '-')}` : name;
const jobs = Number(values.jobs ?? availableParallelism());
const folder = join(tmpdir(), `mutation-${basename(join(CHECKOUT, '.'))}`);
mkdirSync(folder, { recursive: true });
const journal = join(folder, `${label}.jsonl`);
if (values.fresh) rmSync(journal, { force: true });

/** Returns the files below `root` that match one of `parts`. A part is the path of a file or folder. */
function filesOf(root: string, parts: readonly string[], isWanted: (file: string) => boolean): string[] {
  const all = readdirSync(join(CHECKOUT, root), { recursive: true, encoding: 'utf8' }).filter(isWanted).sort();
  return parts.flatMap((part) =>
    all.filter((file) => file === part || file.startsWith(`${part}/`) || isTest(file, part)),
  );
}
const isTest = (file: string, part: string) => file === `${part}.test.js`;

const sources = filesOf('emulator', target.sources, (file) => /^(?!.*(\.test\.ts$|\/test\/)).*\.ts$/.test(file));
const tests = [...new Set(filesOf('dist/emulator', target.tests, (file) => file.endsWith('.test.js')))];
const texts = new Map(sources.map((file) => [file, readFileSync(join(CHECKOUT, 'emulator', file), 'utf8')]));

/** Main module of the changed emulator. It loads the compiled modules instead of the bundle. */
const START = 'start.mjs';
const START_TEXT = `
import { main } from './dist/emulator/cli/main.js';
process.exitCode = await main(process.argv.slice(2));
`;

/** Time limit in milliseconds of a conformance run against a changed emulator. */
const JUDGE_TIMEOUT = 180_000;

/**
 * Copy of the checkout in which mutants are tested one at a time. A mutant is a small change of the code. The checkout
 * itself stays unchanged.
 */
class Sandbox {
  readonly path: string;

  constructor(index: number) {
    this.path = join(folder, `${label}-sandbox-${index}`);
    rmSync(this.path, { recursive: true, force: true });
    mkdirSync(this.path);
    cpSync(join(CHECKOUT, 'dist'), join(this.path, 'dist'), { recursive: true });
    for (const one of ['node_modules', 'fixtures', 'bin', 'package.json', 'README.md', 'CHANGELOG.md']) {
      symlinkSync(join(CHECKOUT, one), join(this.path, one));
    }
    writeFileSync(join(this.path, START), START_TEXT);
  }

  write(file: string, mutant?: Mutant): void {
    const compiled = join(this.path, 'dist/emulator', file.replace(/\.ts$/, '.js'));
    writeFileSync(compiled, compile(texts.get(file)!, mutant));
  }

  run(test: string, timeout: number) {
    const env = { TAP_BAIL: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    return runTestFiles([join(this.path, 'dist/emulator', test)], { timeout, env });
  }

  /** Checks the changed emulator with the conformance suite. Returns undefined if all rules pass. */
  async judge(): Promise<Omit<Tested, 'key'> | undefined> {
    const judge = join(CHECKOUT, 'dist/conformance/test/mutants/judge.js');
    const options = { timeout: JUDGE_TIMEOUT, killSignal: 'SIGTERM' as const };
    return new Promise((resolve) => {
      execFile(process.execPath, [judge, join(this.path, START)], options, (error, output) => {
        if (error === null) return resolve(undefined);
        const by = output.split('\n', 1)[0] ?? '';
        resolve({ verdict: error.killed ? 'timeout' : 'killed', by });
      });
    });
  }
}

/**
 * Measures each test file without a mutant (change of the code). Returns the durations in milliseconds. Excludes test
 * files that fail without a mutant.
 */
async function timeTests(sandbox: Sandbox): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const test of tests) {
    const started = performance.now();
    const { isPassed, output } = await sandbox.run(test, 120_000);
    if (isPassed) times.set(test, performance.now() - started);
    else console.log(`${test} fails without a mutant and is left out:\n${output.slice(-2000)}`);
  }
  return times;
}

async function testMutant(sandbox: Sandbox, mutant: Mutant, times: ReadonlyMap<string, number>): Promise<Tested> {
  const key = keyOf(mutant);
  // Run the test file next to the changed module first, because it probably fails. Then run the others, fastest first.
  const beside = mutant.file.replace(/\.ts$/, '.test.js');
  const rank = (test: string) => (test === beside ? 0 : times.get(test)!);
  sandbox.write(mutant.file, mutant);
  try {
    if (isBySuite) return { key, ...((await sandbox.judge()) ?? { verdict: 'survived' }) };
    for (const test of [...times.keys()].sort((a, b) => rank(a) - rank(b))) {
      const { isPassed, isTimedOut } = await sandbox.run(test, 10_000 + 5 * times.get(test)!);
      if (!isPassed) return { key, verdict: isTimedOut ? 'timeout' : 'killed', by: test };
    }
    return { key, verdict: 'survived' };
  } finally {
    sandbox.write(mutant.file);
  }
}

function keyOf({ file, line, column, operator, before, after }: Mutant): string {
  const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 60);
  return `emulator/${file}:${line}:${column} ${operator}: ${short(before)} -> ${short(after)}`;
}

/** Returns a random sample of the mutants (changes of the code). The seed is fixed, so each run has the same sample. */
function sampleOf(mutants: readonly Mutant[], size: number): Mutant[] {
  const next = randomNumbers(SEED);
  const left = [...mutants];
  return Array.from({ length: Math.min(size, left.length) }, () => left.splice(next(left.length), 1)[0]!);
}

const all = sources
  .filter((file) => file.includes(values.file ?? ''))
  .flatMap((file) => mutantsOf(file, texts.get(file)!));
const chosen = values.sample === undefined ? all : sampleOf(all, Number(values.sample));
const known = new Map<string, Tested>();
if (existsSync(journal)) {
  for (const line of readFileSync(journal, 'utf8').split('\n')) {
    if (line === '') continue;
    const tested: Tested = JSON.parse(line);
    if (tested.verdict === 'survived' && values.again) known.delete(tested.key);
    else known.set(tested.key, tested);
  }
}
const open = chosen.filter((mutant) => !known.has(keyOf(mutant)));
console.log(`${all.length} mutants in ${sources.length} files; ${chosen.length} chosen, ${open.length} not tested yet`);

const sandboxes = Array.from({ length: jobs }, (_, index) => new Sandbox(index));
for (const sandbox of sandboxes) for (const file of sources) sandbox.write(file);
if (isBySuite && open.length > 0) {
  const noticed = await sandboxes[0]!.judge();
  if (noticed) throw new Error(`the suite notices ${noticed.by} without a change`);
}
const times = open.length > 0 ? await timeTests(sandboxes[0]!) : new Map<string, number>();
const queue = open.values();
await Promise.all(
  sandboxes.map(async (sandbox) => {
    for (const mutant of queue) {
      const tested = await testMutant(sandbox, mutant, times);
      known.set(tested.key, tested);
      appendFileSync(journal, `${JSON.stringify(tested)}\n`);
      if (tested.verdict === 'survived') console.log(`survived ${tested.key}`);
    }
  }),
);
for (const { path } of sandboxes) rmSync(path, { recursive: true, force: true });

const verdicts = chosen.map((mutant) => known.get(keyOf(mutant))!);
const count = (verdict: Verdict) => verdicts.filter((tested) => tested.verdict === verdict).length;
const [killed, timeouts, survived] = [count('killed'), count('timeout'), count('survived')];
const score = ((100 * (killed + timeouts)) / Math.max(1, verdicts.length)).toFixed(1);
for (const { key, verdict } of verdicts) if (verdict === 'survived') console.log(`SURVIVED ${key}`);
console.log(
  `${label}: ${killed} killed, ${timeouts} timed out, ${survived} survived of ${verdicts.length}: ${score} %`,
);
