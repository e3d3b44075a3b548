import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { z } from 'zod';
import { operations } from '../../api/index.js';
import type { OperationId } from '../../config/operation-ids.js';
import { problemCodes } from '../../http/problem.js';
import type { Operation } from '../../operation/operation.js';
import { Schedule, SLICE } from '../../schedule/schedule.js';
import { fillNastily, type NastyContent } from '../git/nasty-repository.js';
import { pushBody } from '../git/raw-push.js';
import { type Service, startService } from '../service.js';

/**
 * Number of work units by which a slice may exceed its length. A slice is the time between two yields to other
 * requests. The excess is the last piece of the request's own work and one piece of concurrent requests.
 */
const BOUND = 6_000;
const REPO = 'team/nasty';
const SIZES = { commits: 5_000, files: 5_000, depth: 1_000, refs: 500 };
/** Maximum number of requests per operation. Together, they vary every member of a request. */
const MAX_REQUESTS = 10;

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
}

/**
 * Values for members of requests. The key is a pattern for the member's name. The first value is valid and cheap; the
 * others make the request expensive.
 */
const VALUES: readonly [RegExp, (content: NastyContent) => readonly string[]][] = [
  [/^(limit)$/, () => ['1000']],
  [/^(path)$/, () => ['lines.txt', 'long.txt', 'binary.bin', 'wide', 'wide/file-000001.txt', 'no/such/file']],
  [/^(rev|ref|base_ref|preferred_base|object_ref)$/, () => ['main', 'main~4999', `main${'^'.repeat(3000)}`, 't999']],
  [/^(sha|target|target_commit_sha|base)$/i, ({ tip, first }) => [tip, first]],
  [/^base_?sha$/i, ({ first }) => [first]],
  [/^(source_branch|source)/, () => ['side']],
  [/(branch)$/, () => ['main', 'b/1']],
  [/^(range)$/, () => ['1,100000', '/9*(a?){300}[0-9]/,+100', '1,1']],
  [/^(pattern)$/, () => ['97', '(a?){100}b', '.*a.*a.*b']],
  [/glob|^paths$/, () => ['**', `${'*a'.repeat(100)}b`, 'wide/**']],
  [/^(name)$/, () => ['b/1', 't1']],
  [/prefix/, () => ['', 'n1']],
  [/^q$/, () => ['nasty', 'x'.repeat(2000)]],
  [/./, () => ['x', 'x'.repeat(2000)]],
];

const valuesOf = (name: string, content: NastyContent) => VALUES.find(([pattern]) => pattern.test(name))![1](content);

/**
 * Returns values for a member with this schema. The first value passes the early checks, and the others make the
 * operation as expensive as possible. Lists have the maximum length that fits into a body.
 */
function candidates(schema: Schema, name: string, content: NastyContent): unknown[] {
  // Put false first, because a request passes more checks if flags are false.
  if (schema.enum) return schema.enum.toReversed();
  if (schema.anyOf) return schema.anyOf.flatMap((one) => candidates(one, name, content));
  switch (schema.type) {
    case 'boolean':
      return [false, true];
    case 'integer':
    case 'number':
      return [100, 1, 1_000_000];
    case 'array': {
      const items = candidates(schema.items ?? {}, name, content);
      return [
        items.slice(0, 1),
        ...items.map((item) => Array(item === '' ? 1 : 100).fill(item)),
        Array(100_000).fill(1),
      ];
    }
    case 'object':
      return records(schema, content);
    case 'null':
      return [null];
    default:
      return [...valuesOf(name, content)];
  }
}

/**
 * Returns a record with the first value of each member. Also returns one record for each other value of a member, which
 * differs only in that member.
 */
function records(schema: Schema, content: NastyContent): Record<string, unknown>[] {
  const members = Object.entries(schema.properties ?? {}).filter(([name]) => name !== 'cursor');
  const values = members.map(([name, member]) => candidates(member, name, content));
  const first = Object.fromEntries(members.map(([name], at) => [name, values[at]![0]]));
  const others = members.flatMap(([name], at) => values[at]!.slice(1).map((value) => ({ ...first, [name]: value })));
  return [first, ...others];
}

function schemaOf(type: z.ZodType): Schema {
  return z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as Schema;
}

interface Sent {
  readonly target: string;
  readonly body?: string | Buffer;
}

const MAX_FILES = 50_000;
const WRITE = { target_branch: 'main', commit_message: 'm', author: { name: 'A', email: 'a@b.c' } };
const lines = (...all: unknown[]) => all.map((line) => `${JSON.stringify(line)}\n`).join('');
const CHUNK = Buffer.alloc(4 * 1024 * 1024, 'line\n').toString('base64');

/** Streamed request bodies by operation. The table of operations does not describe them. */
const STREAMED: Readonly<Partial<Record<OperationId, (content: NastyContent) => readonly (string | Buffer)[]>>> = {
  commitPack: () => {
    const files = Array.from({ length: MAX_FILES }, (_, at) => ({
      path: `many/${at % 100}/${at}`,
      content_id: 'one',
    }));
    const chunk = (data: string) => ({ blob_chunk: { content_id: 'one', data, eof: true } });
    return [
      lines({ metadata: { ...WRITE, files } }, chunk('eA==')),
      lines({ metadata: { ...WRITE, files: [...files, 1] } }),
      lines({ metadata: { ...WRITE, files: Array(500_000).fill(1) } }),
      lines({ metadata: { ...WRITE, files: [{ path: 'large', content_id: 'one' }] } }, chunk(CHUNK)),
      lines({ metadata: { ...WRITE, commit_message: '\u0001'.repeat(1_000_000), files: [] } }),
      `{"metadata":${'['.repeat(1_000_000)}`,
    ];
  },
  diffCommit: () => {
    const data = Buffer.from('diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n');
    return [lines({ metadata: WRITE }, { diff_chunk: { data: data.toString('base64'), eof: true } })];
  },
  restoreCommit: ({ first }) => [lines({ metadata: { ...WRITE, target_commit_sha: first } })],
};

function pathOf(operation: Operation): string {
  return operation.routes[0]!.path.replace('{repo_name}', encodeURIComponent(REPO)).replace(/\{\w+\}/, 'none');
}

function requestsFor(operation: Operation, content: NastyContent): Sent[] {
  const path = pathOf(operation);
  const queries = operation.query ? records(schemaOf(operation.query), content) : [{}];
  const targets = queries.map((query) => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      for (const one of [value].flat()) parameters.append(name, String(one));
    const text = `${path}?${parameters}`;
    return text.length > 12_000 ? text.slice(0, 12_000) : text;
  });
  const bodies = STREAMED[operation.id]?.(content) ?? bodiesOf(operation, content);
  if (bodies.length === 0) return targets.map((target) => ({ target }));
  return bodies.map((body) => ({ target: targets[0]!, body }));
}

function bodiesOf(operation: Operation, content: NastyContent): string[] {
  if (!operation.body) return [];
  const nested = `${'['.repeat(500_000)}`;
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`member-${at}`, at])));
  return [...records(schemaOf(operation.body), content).map((body) => JSON.stringify(body)), nested, wide];
}

/** Returns requests to the three routes of the Git protocol. Their bodies consist of packets. */
function gitRequests(content: NastyContent): Sent[] {
  const packet = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text;
  const path = `/${REPO}.git`;
  const prefixes = Array.from({ length: 20_000 }, (_, at) => packet(`ref-prefix refs/heads/b/${at}\n`)).join('');
  const lsRefs = (rest: string) => `${packet('command=ls-refs\n')}0001${packet('peel\n')}${rest}0000`;
  const fetch = `${packet('command=fetch\n')}0001${packet(`want ${content.tip}\n`)}${packet('done\n')}0000`;
  return [
    { target: `${path}/info/refs?service=git-upload-pack` },
    { target: `${path}/info/refs?service=git-receive-pack` },
    { target: `${path}/git-upload-pack`, body: lsRefs('') },
    { target: `${path}/git-upload-pack`, body: lsRefs(prefixes) },
    { target: `${path}/git-upload-pack`, body: fetch },
    {
      target: `${path}/git-receive-pack`,
      body: pushBody([{ ref: 'refs/heads/pushed', old: '0'.repeat(40), new: content.tip }]),
    },
  ];
}

function documented(operation: Operation): Set<number> {
  const statuses = new Map(problemCodes().map(({ code, status }) => [code, status]));
  const common = [400, 403, 404, 409, 413, 503, 504];
  return new Set([
    ...common,
    ...Object.keys(operation.replies).map(Number),
    ...operation.errors.map((code) => statuses.get(code)!),
  ]);
}

async function ask(service: Service, operation: Operation, { target, body }: Sent) {
  const isGit = operation.group === 'Git';
  const gitService = target.endsWith('git-upload-pack') ? 'git-upload-pack' : 'git-receive-pack';
  const type = isGit ? `application/x-${gitService}-request` : 'application/json';
  return service.call(operation.routes[0]!.method, target, {
    repo: REPO,
    ...(body === undefined ? {} : { body }),
    headers: { ...(body === undefined ? {} : { 'content-type': type }), ...(isGit && { 'git-protocol': 'version=2' }) },
  });
}

t.setTimeout(600_000);

t.test('no request blocks others for longer than one slice', { timeout: 600_000 }, async (t) => {
  // Stop the scheduler's clock, so that only counted work can end a slice. Uncounted work then shows as a slice that is
  // too long.
  const schedule = new Schedule({ now: () => 0 });
  const service = await startService({ limits: { searchTimeout: 50, workTimeout: 500 } }, { schedule });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  const { world } = service;
  const { org } = service.emulator;
  t.equal((await service.call('POST', '/api/repos', { repo: REPO })).status, 201);
  let content = await fillNastily(world.state.repositories.find(org, REPO)!, SIZES);
  const isLast = ({ id }: Operation) => /^delete/.test(id);
  for (const row of [...operations].sort((a, b) => Number(isLast(a)) - Number(isLast(b)))) {
    const allowed = documented(row);
    const git = gitRequests(content).filter(({ target }) =>
      target.includes(row.routes[0]!.path.split('.git')[1] ?? '?'),
    );
    let longest = { units: 0, target: '' };
    const wrong: string[] = [];
    const all = row.group === 'Git' ? git : requestsFor(row, content);
    const every = Math.max(1, all.length / MAX_REQUESTS);
    for (const sent of all.filter((_, at) => Math.floor(at / every) !== Math.floor((at - 1) / every))) {
      if (world.state.repositories.find(org, REPO)?.record.state !== 'active') {
        await service.call('POST', '/api/repos', { repo: REPO });
        content = await fillNastily(world.state.repositories.find(org, REPO)!, {
          ...SIZES,
          commits: 10,
          files: 10,
          refs: 10,
        });
      }
      // Begin a new slice, so that the work of earlier requests does not count for this one.
      await setImmediate();
      schedule.longestSlice = 0;
      const { status } = await ask(service, row, sent);
      const shown = `${sent.target.slice(0, 200)} ${sent.body?.slice(0, 100).toString() ?? ''}`;
      if (schedule.longestSlice > longest.units) longest = { units: schedule.longestSlice, target: shown };
      if (!allowed.has(status)) wrong.push(`${status}: ${shown}`);
    }
    t.same(wrong, [], `${row.id}: every status is documented`);
    const told = `${row.id}: ${Math.round(longest.units)} units at most, for ${longest.target}`;
    t.ok(longest.units <= SLICE + BOUND, told);
  }
});
