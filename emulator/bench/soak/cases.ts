import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from '../http-client.js';
import { askVitals, MAX_STALL, spawnWatched } from '../lone-ingest.js';
import { heavyFiles, lineOfCommits, nestedTrees, wideTree, zeros } from '../packs.js';
import { memoryOf, type Pushed, type Remote } from '../remote.js';
import { markdown, shorten } from '../report.js';
import { commitBody, type Files } from './user.js';

const MiB = 1024 * 1024;
const REPO = 'hostile';
/**
 * Limits for each case of hostile requests. `stall` is the time in milliseconds that the server's event loop may be
 * blocked. `memory` is the memory in MiB that the requests may add.
 */
const MOST = { stall: MAX_STALL, memory: 256 };
const SMALL_HEAP = ['--max-old-space-size=512'];
/** Emulator flags for a small cache. A large cache would not be a leak, but would hide one. */
const SMALL_CACHE = ['--cache-bytes', '4MiB'];

/** Starts an emulator with a small heap and a small cache, so that a memory leak shows quickly. */
export const spawnSmall = () => spawnWatched(SMALL_CACHE, SMALL_HEAP);

/**
 * Sends the requests of one step. Resolves to the status codes of the responses, except those of pushes. Rejects if a
 * commit or push fails.
 */
type Step = (remote: Remote) => Promise<readonly number[]>;

/**
 * Hostile requests of one client. `prepared` are the steps that prepare the repository. `measured` are the steps whose
 * effect on the server is measured.
 */
type Case = readonly [prepared: readonly Step[], measured: readonly Step[]];

/** Returns a step that sends one API request for the repository. `json` is the request body; undefined for none. */
function ask(path: string, json?: unknown): Step {
  return async (remote) => [(await remote.api(REPO, path, { json })).status];
}

function grep(pattern: string, more: object = {}): Step {
  return ask('/grep', { query: { pattern, case_sensitive: true }, ...more });
}

function commit(files: () => Files, metadata: object = {}): Step {
  return async (remote) => [
    (await remote.change(REPO, '/commit-pack', { body: commitBody(files(), metadata) })).status,
  ];
}

function push(pushed: () => Pushed): Step {
  return async (remote) => {
    await remote.pushMain(REPO, pushed());
    return [];
  };
}

async function runAll(steps: readonly Step[], remote: Remote): Promise<number[]> {
  const statuses: number[] = [];
  for (const step of steps) statuses.push(...(await step(remote)));
  return statuses;
}

const text = (line: string, bytes: number) => Buffer.from(line.repeat(Math.ceil(bytes / line.length)));
const commitFile = (content: Buffer, path = 'f') => commit(() => new Map([[path, content]]));
const manyFiles = (count: number, fileAt: (at: number) => readonly [path: string, content: Buffer]): Files =>
  new Map(Array.from({ length: count }, (_, at) => fileAt(at)));

const LINE = Buffer.from('x\n');
/** Step that commits a file in 2,040 nested folders. This is about the maximum that a path of 4,096 bytes allows. */
const DEEP = commitFile(LINE, `${'a/'.repeat(2_040)}f`);
/**
 * Returns `count` globs (file name patterns) that take the most time to match, within the maximum total length of a
 * list.
 */
const globs = (count: number) => Array.from({ length: count }, (_, at) => `${'**/a/*'.repeat(53)}${at}`);
/**
 * Returns a function that creates 100 files in which each line contains `side`. Two branches with different values
 * differ in every line, so merging them gives conflicts.
 */
const sides = (side: string) => () => manyFiles(100, (at) => [`f${at}`, text(`${side} ${at}\n`, 64 * 1024)]);
/**
 * Returns a function that creates a file of 60,000 lines, whose order depends on `step`. Different values give very
 * different orders, which makes a diff expensive.
 */
const shuffled = (step: number) => () => {
  const lines = Array.from({ length: 60_000 }, (_, line) => `${(line * step) % 977}\n`);
  return new Map([
    ['lines.txt', Buffer.from(lines.join(''))],
    ['long.txt', Buffer.from(`${'a'.repeat(1_000_000)}${step}\n`)],
  ]);
};

const ADMIN = '/_emulator';
/** Number of concurrent requests that `atOnce` sends. */
const AT_ONCE = 8;
const STREAMS = 100;

/** Returns a step that sends one admin API request several times concurrently, each time on its own connection. */
function atOnce(method: string, path: string, json: unknown): Step {
  const send = async (origin: string) => {
    await using client = new HttpClient(origin);
    return (await client.request(`${ADMIN}${path}`, { method, json })).status;
  };
  return ({ origin }) => Promise.all(Array.from({ length: AT_ONCE }, () => send(origin)));
}

const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 1]));
/** Longest list that fits into a JSON body of 1 MiB. */
const ZEROS = Array((MiB - 100) / 2).fill(0);

/** Cases that keep a server busy. They also run while the response time of other clients is measured. */
export const PRESSURES: Readonly<Record<string, Case>> = {
  'a push of 60 MiB': [[], [push(() => heavyFiles(60)), ask('/files?limit=100')]],
  'expensive expressions': [
    [commitFile(text(`${'a'.repeat(1000)}\n`, 4 * MiB))],
    ['(a?){100}b', '(a*)*(a|aa)+b', '.*.*.*b', '[^b]{200}b'].map((pattern) => grep(pattern)),
  ],
  '100 globs on a path of 2,040 segments': [
    [DEEP],
    [grep('x', { file_filters: { include_globs: globs(100) } }), ask('/archive', { include_globs: globs(100) })],
  ],
  'diff of 60,000 shuffled lines': [[commit(shuffled(7919))], [commit(shuffled(104_729)), ask('/diff?ref=main')]],
};

const CASES: Readonly<Record<string, Case>> = {
  ...PRESSURES,
  'three lists of globs on a path of 2,040 segments': [
    [DEEP],
    [grep('x', { file_filters: { include_globs: globs(34), exclude_globs: globs(33) }, paths: globs(33) })],
  ],
  'blame of a range by /(a?){900}[0-9]/': [
    [commitFile(text(`${'a'.repeat(60)}\n`, MiB))],
    [ask(`/blame?path=f&range=${encodeURIComponent('/(a?){900}[0-9]/,+1')}`)],
  ],
  'archive of 30,000 folders': [
    [commit(() => manyFiles(30_000, (at) => [`a${at % 170}/b${at}/f`, LINE]))],
    [ask('/archive', {})],
  ],
  'archive, search and list of 20,000 nested folders': [
    [push(() => nestedTrees(20_000))],
    [ask('/archive', {}), grep('y'), ask('/files?limit=100')],
  ],
  'list and change of a folder of 1,000,000 files': [
    [push(() => wideTree(1_000_000))],
    [ask('/files?limit=100'), commitFile(LINE, 'new')],
  ],
  'diff of a folder of 1,000,000 files': [[push(() => wideTree(1_000_000))], [ask('/diff?sha=main')]],
  'main~199999': [
    [push(() => lineOfCommits(200_000))],
    [ask('/commit?sha=main~199999'), ask(`/commit?sha=main${'^'.repeat(7000)}`)],
  ],
  'a pushed object of 200 MiB': [[], [push(() => zeros(200 * MiB)), ask('/file?path=zeros')]],
  'metadata of 50,000 files': [
    [commitFile(LINE)],
    [commit(() => manyFiles(50_000, (at) => [`d${at % 100}/${at}`, Buffer.alloc(0)]))],
  ],
  'a line of 16 MiB in a search': [[commitFile(Buffer.alloc(16 * MiB - 1, 'ab'))], [grep('(a|b)*c'), grep('zzz')]],
  'merge preview with contents': [
    [commit(sides('base'))],
    [
      commit(sides('theirs'), { target_branch: 'side', base_branch: 'main' }),
      commit(sides('ours')),
      ask('/merge/preview?source_branch=side&target_branch=main&include_content=true'),
    ],
  ],
  'JSON of one fault many times': [[], [grep('x', { paths: Array(400_000).fill(1) }), ask('/grep', members(80_000))]],
  'admin: eight bodies of 1 MiB at once, a list of numbers': [
    [],
    [atOnce('POST', '/faults', ZEROS), atOnce('POST', '/reset', ZEROS)],
  ],
  'admin: eight bodies of 1 MiB at once, 300,001 faults': [
    [],
    [atOnce('PUT', '/faults', { faults: Array(300_001).fill({}) })],
  ],
  'admin: 9,999 unknown members': [[], [atOnce('POST', '/fault-checks', members(9_999))]],
  'admin: 1,000 requests beside 100 event streams': [[], [requestBesideStreams]],
  'admin: the OpenAPI document 200 times': [[], [(remote) => repeat(remote, 200, `${ADMIN}/openapi.json`)]],
};

/** Sends a request `count` times in a row. Resolves to the status code of the last response. */
async function repeat(remote: Remote, count: number, path: string): Promise<number[]> {
  for (let sent = 1; sent < count; sent++) await remote.request(path);
  return [(await remote.request(path)).status];
}

async function requestBesideStreams(remote: Remote): Promise<number[]> {
  const streams = Array.from({ length: STREAMS }, () => new HttpClient(remote.origin));
  for (const stream of streams) stream.request(`${ADMIN}/requests/stream`).catch(() => undefined);
  await repeat(remote, 1_000, '/nothing');
  for (const stream of streams) await stream[Symbol.asyncDispose]();
  return repeat(remote, 1, `${ADMIN}/health`);
}

/** Runs the preparation and the measured requests of a case, then deletes its repository. */
export async function pressWith(remote: Remote, [prepared, measured]: Case): Promise<readonly number[]> {
  await remote.create(REPO);
  await runAll(prepared, remote);
  const statuses = await runAll(measured, remote);
  await remote.delete(REPO);
  return statuses;
}

/** Results of all cases: a Markdown table, and one message for each case over a limit. */
export interface Findings {
  readonly table: string;
  readonly findings: readonly string[];
}

/**
 * Runs the cases whose names contain `chosen`, each in a new server process that serves nothing else. Resolves to a
 * table, and one finding for each case that exceeds a limit.
 */
export async function runCases(chosen: string): Promise<Findings> {
  const findings: string[] = [];
  const rows: string[][] = [];
  for (const [name, [prepared, measured]] of Object.entries(CASES)) {
    if (!name.includes(chosen)) continue;
    await using server = await spawnSmall();
    await server.create(REPO);
    await runAll(prepared, server);
    await askVitals(server);
    const before = await memoryOf(server.child, 'VmRSS');
    // Waits, because the server resets its measurement of the event loop delay 50 ms after a requested garbage
    // collection.
    await sleep(200);
    const start = performance.now();
    const statuses = await runAll(measured, server).catch((error: Error) => [error.message]);
    const time = `${shorten(performance.now() - start)} ms`;
    const { delayMax } = await askVitals(server);
    const memory = ((await memoryOf(server.child, 'VmHWM')) - before) / 1024;
    rows.push([name, statuses.join(' '), time, `${shorten(delayMax)} ms`, `${shorten(memory)} MiB`]);
    if (delayMax > MOST.stall || memory > MOST.memory) {
      findings.push(`${name}: past ${MOST.stall} ms or ${MOST.memory} MiB`);
    }
  }
  return { table: markdown(['case', 'status', 'time', 'longest stall', 'memory above'], rows), findings };
}
