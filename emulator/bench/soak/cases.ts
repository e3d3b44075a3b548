import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { askVitals, MAX_STALL, spawnWatched } from '../lone-ingest.js';
import { heavyFiles, lineOfCommits, nestedTrees, wideTree, zeros } from '../packs.js';
import type { Pushed, Remote } from '../remote.js';
import { markdown, shorten } from '../report.js';
import { commitBody, type Files } from './user.js';

const MiB = 1024 * 1024;
const REPO = 'hostile';
/** Limits of every case: milliseconds that the event loop was blocked, and bytes above the stored data. */
const MOST = { stall: MAX_STALL, memory: 256 * MiB };
const SMALL_HEAP = ['--max-old-space-size=512'];
/** A small cache, because cached data is not a leak, but hides one. */
const SMALL_CACHE = ['--cache-bytes', '4MiB'];

/** Starts an emulator with little memory, so that leaks show soon. */
export const spawnSmall = () => spawnWatched(SMALL_CACHE, SMALL_HEAP);

/** Hostile work of one client: preparation, and the measured requests. */
interface Case {
  readonly files?: () => Files;
  readonly pushed?: () => Pushed;
  /** Resolves to the statuses of the requests. */
  readonly run: (remote: Remote) => Promise<readonly number[]>;
}

type Request = readonly [path: string, json?: unknown];

/** Defines a case that sends requests to the API, one after the other. */
function asked(prepared: Omit<Case, 'run'>, ...requests: readonly Request[]): Case {
  return { ...prepared, run: (remote) => send(remote, ...requests) };
}

/** Defines a case whose push is measured as well. */
function pushedWhileMeasured(pushed: () => Pushed, ...requests: readonly Request[]): Case {
  return {
    run: async (remote) => {
      await remote.pushMain(REPO, pushed());
      return send(remote, ...requests);
    },
  };
}

async function send(remote: Remote, ...requests: readonly Request[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const [path, json] of requests) {
    statuses.push((await remote.api(REPO, path, json === undefined ? {} : { json })).status);
  }
  return statuses;
}

async function commit(remote: Remote, files: Files, metadata: object = {}): Promise<number> {
  return (await remote.change(REPO, '/commit-pack', { body: commitBody(files, metadata) })).status;
}

function grep(pattern: string, more: object = {}): Request {
  return ['/grep', { query: { pattern, case_sensitive: true }, ...more }];
}

const text = (line: string, bytes: number) => Buffer.from(line.repeat(Math.ceil(bytes / line.length)));
const fileOf = (content: Buffer, path = 'f') => ({ files: () => new Map([[path, content]]) });
const manyFiles = (count: number, fileAt: (at: number) => readonly [path: string, content: Buffer]): Files =>
  new Map(Array.from({ length: count }, (_, at) => fileAt(at)));

const LINE = Buffer.from('x\n');
/** A file whose path has the maximum number of names. */
const DEEP = fileOf(LINE, `${'a/'.repeat(2_040)}f`);
/** Lists of globs with the most work for the maximum total length. */
const globs = (count: number) => Array.from({ length: count }, (_, at) => `${'**/a/*'.repeat(53)}${at}`);
/** Files of a hundred lines, each of which differs between the two sides. */
const sides = (side: string) => manyFiles(100, (at) => [`f${at}`, text(`${side} ${at}\n`, 64 * 1024)]);
/** Returns lines in an order that is very different for each step. */
const shuffled = (step: number): Files => {
  const lines = Array.from({ length: 60_000 }, (_, line) => `${(line * step) % 977}\n`);
  return new Map([
    ['lines.txt', Buffer.from(lines.join(''))],
    ['long.txt', Buffer.from(`${'a'.repeat(1_000_000)}${step}\n`)],
  ]);
};

const ADMIN = '/_emulator';
/** Number of concurrent requests. */
const AT_ONCE = 8;
const STREAMS = 100;

/** Defines a case of requests to the admin API, each sent several times concurrently on separate connections. */
function atOnce(...requests: readonly (readonly [method: string, path: string, body: string])[]): Case {
  const headers = { 'content-type': 'application/json' };
  return {
    run: async ({ origin }) => {
      const statuses: number[] = [];
      for (const [method, path, body] of requests) {
        const send = async () => (await fetch(`${origin}${ADMIN}${path}`, { method, headers, body })).status;
        statuses.push(...(await Promise.all(Array.from({ length: AT_ONCE }, send))));
      }
      return statuses;
    },
  };
}

const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`member${at}`, {}]));

/** Returns a JSON list with as many items as a body of 1 MiB can contain. */
function listOf(item: string, max = Number.POSITIVE_INFINITY): string {
  const count = Math.floor((MiB - 100) / (item.length + 1));
  return `[${Array(Math.min(max, count)).fill(item).join()}]`;
}

/** Cases that keep a server busy while others read from it. */
export const PRESSURES: Readonly<Record<string, Case>> = {
  'a push of 60 MiB': pushedWhileMeasured(() => heavyFiles(60), ['/files?limit=100']),
  'expensive expressions': asked(
    fileOf(text(`${'a'.repeat(1000)}\n`, 4 * MiB)),
    ...['(a?){100}b', '(a*)*(a|aa)+b', '.*.*.*b', '[^b]{200}b'].map((pattern) => grep(pattern)),
  ),
  '100 globs on a path of 2,040 segments': asked(DEEP, grep('x', { file_filters: { include_globs: globs(100) } }), [
    '/archive',
    { include_globs: globs(100) },
  ]),
  'diff of 60,000 shuffled lines': {
    files: () => shuffled(7919),
    run: async (remote) => {
      await commit(remote, shuffled(104_729));
      return send(remote, ['/diff?ref=main']);
    },
  },
};

const CASES: Readonly<Record<string, Case>> = {
  ...PRESSURES,
  'three lists of globs on a path of 2,040 segments': asked(
    DEEP,
    grep('x', { file_filters: { include_globs: globs(34), exclude_globs: globs(33) }, paths: globs(33) }),
  ),
  'blame of a range by /(a?){900}[0-9]/': asked(fileOf(text(`${'a'.repeat(60)}\n`, MiB)), [
    `/blame?path=f&range=${encodeURIComponent('/(a?){900}[0-9]/,+1')}`,
  ]),
  'archive of 30,000 folders': asked({ files: () => manyFiles(30_000, (at) => [`a${at % 170}/b${at}/f`, LINE]) }, [
    '/archive',
    {},
  ]),
  'archive, search and list of 20,000 nested folders': asked(
    { pushed: () => nestedTrees(20_000) },
    ['/archive', {}],
    grep('y'),
    ['/files?limit=100'],
  ),
  'list and change of a folder of 1,000,000 files': {
    pushed: () => wideTree(1_000_000),
    run: async (remote) => [
      ...(await send(remote, ['/files?limit=100'])),
      await commit(remote, new Map([['new', LINE]])),
    ],
  },
  'diff of a folder of 1,000,000 files': asked({ pushed: () => wideTree(1_000_000) }, ['/diff?sha=main']),
  'main~199999': asked(
    { pushed: () => lineOfCommits(200_000) },
    ['/commit?sha=main~199999'],
    [`/commit?sha=main${'^'.repeat(7000)}`],
  ),
  'a pushed object of 200 MiB': pushedWhileMeasured(() => zeros(200 * MiB), ['/file?path=zeros']),
  'metadata of 50,000 files': {
    ...fileOf(LINE),
    run: async (remote) => {
      const files = manyFiles(50_000, (at) => [`d${at % 100}/${at}`, Buffer.alloc(0)]);
      return [await commit(remote, files)];
    },
  },
  'a line of 16 MiB in a search': asked(fileOf(Buffer.alloc(16 * MiB - 1, 'ab')), grep('(a|b)*c'), grep('zzz')),
  'merge preview with contents': {
    files: () => sides('base'),
    run: async (remote) => {
      await commit(remote, sides('theirs'), { target_branch: 'side', base_branch: 'main' });
      await commit(remote, sides('ours'));
      return send(remote, ['/merge/preview?source_branch=side&target_branch=main&include_content=true']);
    },
  },
  'JSON of one fault many times': asked({}, grep('x', { paths: Array(400_000).fill(1) }), [
    '/grep',
    Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`m${at}`, 1])),
  ]),
  'admin: eight bodies of 1 MiB at once, a list of numbers': atOnce(
    ['POST', '/faults', listOf('0')],
    ['POST', '/reset', listOf('0')],
  ),
  'admin: eight bodies of 1 MiB at once, 300,001 faults': atOnce([
    'PUT',
    '/faults',
    `{"faults":${listOf('{}', 300_001)}}`,
  ]),
  'admin: 9,999 unknown members': atOnce(['POST', '/fault-checks', JSON.stringify(members(9_999))]),
  'admin: 1,000 requests beside 100 event streams': {
    run: async (remote) => {
      const open = () => request(`${remote.origin}${ADMIN}/requests/stream`);
      const streams = await Promise.all(Array.from({ length: STREAMS }, open));
      for (const { body } of streams) body.on('error', () => undefined).resume();
      for (let count = 0; count < 1_000; count++) await remote.client.request('/nothing');
      for (const { body } of streams) body.destroy();
      return [(await remote.client.request(`${ADMIN}/health`)).status];
    },
  },
  'admin: the OpenAPI document 200 times': {
    run: async (remote) => {
      let status = 0;
      for (let count = 0; count < 200; count++) ({ status } = await remote.client.request(`${ADMIN}/openapi.json`));
      return [status];
    },
  },
};

/** Creates what a case needs. */
async function prepareCase(remote: Remote, { files, pushed }: Case): Promise<void> {
  await remote.create(REPO);
  if (files) await commit(remote, files());
  if (pushed) await remote.pushMain(REPO, pushed());
}

/** Runs a case completely, and removes the data that it created. */
export async function pressWith(remote: Remote, row: Case): Promise<readonly number[]> {
  await prepareCase(remote, row);
  const statuses = await row.run(remote);
  await remote.delete(REPO);
  return statuses;
}

/**
 * Runs the cases whose names contain `chosen`, each alone on a new server. Resolves to those that exceed the limits.
 */
export async function runCases(chosen: string): Promise<{ table: string; findings: string[] }> {
  const findings: string[] = [];
  const rows: string[][] = [];
  for (const [name, row] of Object.entries(CASES)) {
    if (!name.includes(chosen)) continue;
    await using server = await spawnSmall();
    await prepareCase(server, row);
    const before = await askVitals(server);
    // The delay measurement restarts after the garbage collection.
    await sleep(200);
    const start = performance.now();
    const statuses = await row.run(server).catch((error: Error) => [error.message]);
    const time = `${shorten(performance.now() - start)} ms`;
    const { peak, delayMax } = await askVitals(server);
    const memory = peak - before.rss;
    rows.push([name, statuses.join(' '), time, `${shorten(delayMax)} ms`, `${shorten(memory / MiB)} MiB`]);
    if (delayMax > MOST.stall || memory > MOST.memory) {
      findings.push(`${name}: past ${MOST.stall} ms or ${MOST.memory / MiB} MiB`);
    }
  }
  return { table: markdown(['case', 'status', 'time', 'longest stall', 'memory above'], rows), findings };
}
