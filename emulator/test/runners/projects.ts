import { execFile } from 'node:child_process';
import { cp, mkdir, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// The compiled test is in dist/emulator/test/runners, four folders below the checkout, which contains the projects.
export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Example project that depends on this package, like a user's project. */
export interface Project {
  /** Name of the folder with the project's files. */
  readonly name: string;
  /** Package to install instead of the locked version, such as `jest@29.0.0`. Undefined to use the lockfile. */
  readonly instead?: string;
  /** Command that runs one file of the project. The project's `node_modules/.bin` is first in the PATH. */
  readonly command: readonly [program: string, ...args: string[]];
}

/** Example project whose tests use one test runner, such as vitest. */
export interface RunnerProject extends Project {
  /** Returns a pattern for the test runner's output if the test with this name passed. */
  readonly passes: (name: string) => RegExp;
  /**
   * Patterns for the output of concurrent tests. The first matches the reason why a test is refused. The others match
   * the tests that pass.
   */
  readonly ambiguous: readonly RegExp[];
}

const SEVERAL =
  /2 tests of this file run concurrently, so the emulator cannot determine which of them uses it: use emulator\.of/;

const NEWEST: readonly RunnerProject[] = [
  {
    name: 'node-test',
    command: [process.execPath, '--test', '--test-reporter=tap'],
    passes: (name) => new RegExp(`^ *ok \\d+ - ${name}$`, 'm'),
    ambiguous: [SEVERAL],
  },
  {
    name: 'tap',
    command: [process.execPath],
    passes: (name) => new RegExp(`^ *ok \\d+ - ${name} # time`, 'm'),
    ambiguous: [SEVERAL],
  },
  {
    name: 'vitest',
    command: ['vitest', 'run', '--reporter=verbose'],
    passes: (name) => new RegExp(`✓ .* > ${name}`),
    ambiguous: [SEVERAL],
  },
  {
    name: 'jest',
    command: ['jest', '--verbose', '--runTestsByPath'],
    passes: (name) => new RegExp(`✓ ${name}`),
    ambiguous: [
      ...['one', 'two', 'inside a block › three'].map(
        (name) => new RegExp(`● ${name}\n\n +withEmulator does not support test\\.concurrent`),
      ),
      /✓ a concurrent test that asks for nothing/,
      /✓ a test in order/,
      /✓ another test in order/,
    ],
  },
];

/**
 * Projects of all test runners. Each has the runner's newest version, and another copy has the oldest version that
 * `peerDependencies` allows.
 */
export const RUNNER_PROJECTS: readonly RunnerProject[] = NEWEST.flatMap((project) => {
  const oldest = oldestOf(project.name);
  return oldest === undefined ? [project] : [project, { ...project, instead: `${project.name}@${oldest}` }];
});

/**
 * Returns the oldest version of a package that `peerDependencies` allows. Undefined if it does not list the package.
 */
function oldestOf(name: string): string | undefined {
  const { peerDependencies } = createRequire(import.meta.url)(join(ROOT, 'package.json'));
  const range: string | undefined = peerDependencies[name];
  if (range === undefined) return undefined;
  const [, given = ''] = /^>=(\d+(?:\.\d+){0,2})$/.exec(range) ?? [];
  if (given === '') throw new Error(`peerDependencies: ${name} has the range ${range}, not one such as >=2.1`);
  return [...given.split('.'), '0', '0'].slice(0, 3).join('.');
}

/** File of an example project, with the expected exit code and output when it runs. */
export interface ProjectFile {
  readonly file: string;
  /** Arguments of the test runner before the file name. They select how it loads test files. */
  readonly args?: readonly string[];
  readonly code: 0 | 1;
  readonly printed: readonly RegExp[];
}

const REQUEST = (query: string, id: number) =>
  new RegExp(`\\d\\d:\\d\\d:\\d\\d\\.\\d{3} req-0000000${id} GET /api/repos\\?${query} 401 unauthorized: \\S`);

/**
 * Arguments of test runners for each way to load test files. Jest and vitest's VM pools use V8 contexts, which behave
 * differently.
 */
const WAYS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  vitest: [[], ['--pool=vmThreads'], ['--pool=vmForks']],
};

/**
 * Returns the files of a test runner's project. If the runner has several modes (`WAYS`), each file is returned once
 * per mode. Some files contain a failing test, because the error message that a user would see is checked too.
 */
export const filesOf = (project: RunnerProject): readonly ProjectFile[] =>
  (WAYS[project.name] ?? [[]]).flatMap((args) => rowsOf(project).map((row) => ({ ...row, args })));

const rowsOf = ({ passes, ambiguous }: RunnerProject): readonly ProjectFile[] => [
  { file: 'lost-response.test.js', code: 0, printed: [passes('a lost response is noticed')] },
  { file: 'push.test.js', code: 0, printed: [passes('Git pushes and an LFS object is uploaded')] },
  { file: 'process.test.js', code: 0, printed: [passes('Git clones synchronously')] },
  { file: 'isolation.test.js', code: 0, printed: [passes('a test begins with nothing')] },
  {
    file: 'failing.test.js',
    code: 1,
    printed: [
      /The fault lost\*1 \(fault-1\) fired 0 times, but should fire at least 1\./,
      REQUEST('unfired', 1),
      /The fault lost\*2 \(fault-1\) fired 0 times/,
      /The emulator received no requests from this test\./,
      /The client breaks the rule hopeless-retry: /,
      /req-00000002 after req-00000001: The request repeats req-00000001/,
      REQUEST('impolite', 2),
      REQUEST('by-itself', 1),
      passes('a test that passes'),
    ],
  },
  { file: 'ambiguous.test.js', code: 1, printed: ambiguous },
];

const CLIENT = 'client';
const EXEC = ['emulator', 'exec', '--log', 'quiet'] as const;
const BUILT_IN = ['--api-host', 'api.demo.code.storage', '--git-host', 'demo.code.storage'];

/**
 * Runs of the published JavaScript client and of unmodified Git against an emulator. Some use configured addresses, and
 * others use the client's built-in addresses.
 */
export const CLIENT_RUNS: readonly (readonly [Project, ProjectFile])[] = [
  [
    { name: CLIENT, command: [...EXEC, '--', process.execPath] },
    { file: 'given-hosts.js', code: 0, printed: [/what was restored is cloned from 127\.0\.0\.1:\d+/] },
  ],
  [
    { name: CLIENT, command: [...EXEC, ...BUILT_IN, '--', process.execPath] },
    { file: 'built-in-hosts.js', code: 0, printed: [/what was restored is cloned from demo\.code\.storage/] },
  ],
  [
    { name: CLIENT, command: [process.execPath, '--test', '--test-reporter=tap'] },
    { file: 'first-commit.test.js', code: 0, printed: [/^# pass 2$/m] },
  ],
  [
    { name: CLIENT, command: [...EXEC, '--tls', '--', process.execPath, '--test', '--test-reporter=tap'] },
    { file: 'clone.test.js', code: 0, printed: [/^# pass 1$/m] },
  ],
];

/** Output of a passed test. It must not occur in any run of a project. */
export const NEVER = /repos\?passes/;

/** Copies a project to a folder. Links this checkout's packages into it, so that it needs no registry. */
export async function linkProject({ name }: Project, folder: string): Promise<void> {
  await copyProject(name, folder);
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  await symlink(ROOT, join(modules, 'repohost-emulator'));
  await symlink(join(ROOT, 'node_modules', 'tap'), join(modules, 'tap'));
}

/**
 * Copies a project to a folder and installs its packages: the locked versions, then `tarball` (this package), and
 * `instead` if given. Needs the npm registry.
 */
export async function installProject({ name, instead }: Project, folder: string, tarball: string): Promise<void> {
  await copyProject(name, folder);
  // Remove the lockfile. Otherwise npm would combine the old version with dependencies that are locked for the new
  // version.
  if (instead !== undefined) await rm(join(folder, 'package-lock.json'));
  const words = [
    'install',
    instead === undefined ? '--no-save' : '--save-exact',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ];
  const { code, said } = await run(folder, ['npm', ...words, ...(instead === undefined ? [] : [instead]), tarball]);
  if (code !== 0) throw new Error(`npm install in the project ${name} ended with ${code}:\n${said}`);
}

async function copyProject(name: string, folder: string): Promise<void> {
  await cp(join(ROOT, 'emulator', 'test', 'runners', name), folder, { recursive: true });
}

/**
 * Runs one file of a project. Returns one text for each difference from the expected exit code and output. An empty
 * list means success.
 */
export async function mistakesOf(project: Project, folder: string, row: ProjectFile): Promise<string[]> {
  const { code, said } = await run(folder, [...project.command, ...(row.args ?? []), row.file]);
  const mistakes = row.printed.filter((wanted) => !wanted.test(said));
  return [
    ...(code === row.code ? [] : [`it ended with ${code}, not ${row.code}:\n${said}`]),
    ...mistakes.map((wanted) => `it does not print ${wanted}:\n${said}`),
    ...(NEVER.test(said) ? [`it prints the requests of a test that passed:\n${said}`] : []),
  ];
}

export function run(folder: string, [program, ...args]: readonly string[]): Promise<{ code: number; said: string }> {
  const { NODE_TEST_CONTEXT: _, TAP: __, ...inherited } = process.env;
  const path = [join(folder, 'node_modules', '.bin'), dirname(process.execPath), inherited.PATH].join(delimiter);
  const env = { ...inherited, PATH: path, NO_COLOR: '1', NO_PROXY: '*', CI: '1' };
  return new Promise((resolve) => {
    execFile(program!, args, { cwd: folder, env, maxBuffer: 2 ** 26 }, (error, out, err) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, said: `${out}${err}` });
    });
  });
}
