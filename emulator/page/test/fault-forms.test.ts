import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { parseFault } from '../../faults/grammar.js';
import { bodyOfDraft, EMPTY, offersFor, settle } from '../faults/draft.js';
import { faultForms } from '../faults/fault-forms.js';
import {
  definitionOf,
  type Fault,
  type FaultKinds,
  type FaultRecord,
  type Operation,
  operationsOf,
} from '../faults/records.js';
import { specOf } from '../faults/spec-text.js';

// needs: git

t.setTimeout(120_000);

const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const HOSTILE = '\u202e"$(id)`\'\\ <b>';

/** Faults as the form makes them: in words, with which requests they meet. */
const WORDS: readonly (readonly [spec: string, match?: Fault['match']])[] = [
  ['rate_limited*1;retry-after=2'],
  ['rate_limited*2+1@before;retry-after=http-date;t=3', { op: 'getRepository' }],
  ['internal_error@response.head', { op: ['getRepository', 'listBranches'], repo: 'app' }],
  ['authentication_unavailable*1@auth', { op: 'listTags' }],
  ['unauthorized*1@headers', { op: 'listTags' }],
  ['repository_thawing*1', { op: 'getRepository', token: { sub: 'ada' } }],
  ['code*1;code=sold_out;status=418;retry-after=1', { op: 'getRepository', repo: 'a*' }],
  ['raw*1;status=201;body=e30;type=text/plain', { op: 'listBranches' }],
  ['latency*1;ms=5', { op: 'getRepository', http: { method: 'GET' } }],
  ['latency@accept;ms=5'],
  ['throttle*1;bps=65536', { op: 'listCommits' }],
  ['hold*1;latch=gate.1', { op: 'getRepository' }],
  ['cut*1;fraction=0.5;how=rst', { op: 'gitUploadPack', repo: 'app' }],
  ['cut*1@response.body;bytes=0;how=stall', { op: 'getRepository' }],
  ['cut*1@git.pack;objects=1', { op: 'gitUploadPack' }],
  ['cut*1@git.pack;trailer=1', { op: 'gitUploadPack', git: { command: 'fetch' } }],
  ['corrupt*1;bytes=3', { op: 'listFiles' }],
  ['drop_object*1', { op: 'gitUploadPack' }],
  ['sideband*1@git.pack;band=2;text=a b, c; d', { op: 'gitUploadPack' }],
  ['flood*1;text=x;lines=10', { op: 'gitUploadPack' }],
  ['ng*1;ref=refs/heads/topic;reason=hook declined', { op: 'gitReceivePack' }],
  ['lost*1', { op: 'createBranch' }],
  ['lost*1;status=502', { op: 'createTag' }],
  ['lost*1@git.report;how=rst', { op: 'gitReceivePack', git: { ref: 'refs/heads/topic' } }],
  ['bad_gateway*1', { op: 'git*' }],
  ['bad_gateway*1', { op: 'getRepository', token: { sub: HOSTILE }, repo: "it's/*" }],
  [
    'bad_gateway*1',
    { http: { header: { 'x-a': HOSTILE, __proto__x: 'y' } }, token: { scopes: { has: ['git:read'] } } },
  ],
  ['bad_gateway*1', { token: { claims: { [HOSTILE]: 'true' } }, scenario: 'no' }],
];

/** The words as the grammar wants them. */
function readWords([spec, match]: (typeof WORDS)[number]): Fault {
  const [name, ...keys] = spec.split(/;(?=[\w-]+=)/);
  const encoded = keys.map((pair) => pair.replace(/=(.*)$/s, (_, value) => `=${encodeURIComponent(value)}`));
  const { fault } = parseFault([name, ...encoded].join(';'), 'spec');
  return { ...(fault as object), ...(match && { match }) };
}

/** Those that no words say. */
const JSON_ONLY: readonly Fault[] = [
  { do: [{ latency: { ms: 1 } }, { throttle: { bps: 65536 } }], match: { op: 'archive' } },
  { sequence: ['pass', { error: { code: 'bad_gateway' } }], priority: 3, note: HOSTILE },
  { do: { error: { code: 'bad_gateway', detail: "It's 'gone'" } }, when: { every: 2, times: 1 }, ttl: 'PT1H' },
  { do: { report: { unpack: 'disk full', refs: { 'refs/heads/a': 'no' } } }, expect: { fired: 0 } },
];

const FAULTS: readonly Fault[] = [...WORDS.map(readWords), ...JSON_ONLY];

/** The library, as people load it; what the page is written for has other types than Node. */
const { startEmulator } = createRequire(import.meta.url)(join(ROOT, 'dist/bundle/emulator/index.cjs')) as {
  startEmulator(options: object): Promise<Library>;
};

interface Library {
  readonly adminUrl: string;
  readonly baseUrl: string;
  token(options: object): Promise<string>;
  repository(name: string): { seed(files: object): Promise<unknown> };
  close(): Promise<void>;
}

/** What the forms are given, and the emulator that they are given to. */
async function stage(t: Test) {
  const emulator = await startEmulator({ port: 0 });
  t.teardown(() => emulator.close());
  const admin = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${emulator.adminUrl}/${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text === '' ? undefined : JSON.parse(text);
  };
  const operations: Operation[] = (await admin('GET', 'operations?limit=1000')).items;
  const kinds: FaultKinds = await admin('GET', 'fault-kinds');
  const context = { operations, kinds: kinds.items, adminUrl: emulator.adminUrl, hasAdminToken: false };
  const formsOf = (fault: Fault) => Object.fromEntries(faultForms(fault, context).map((form) => [form.id, form]));
  /** What there is, and no more of it. */
  const taken = async (): Promise<Fault[]> => {
    const items: FaultRecord[] = (await admin('GET', 'faults?limit=1000')).items;
    for (const { id } of items) await admin('DELETE', `faults/${encodeURIComponent(id)}`);
    return items.map(definitionOf);
  };
  return { emulator, operations, kinds, admin, formsOf, taken };
}

/** Runs lines of a shell, in which `npx emulator` is that of this folder; their output. */
async function shell(text: string): Promise<string> {
  const command = text.replaceAll('npx emulator', '"$NODE" bin/emulator.js');
  const { stdout } = await run('sh', ['-ec', command], { cwd: ROOT, env: { ...process.env, NODE: process.execPath } });
  return stdout;
}

t.test('words and JSON are two ways to write one fault', async (t) => {
  for (const fault of WORDS.map(readWords)) {
    const { match, ...rest } = fault;
    const spec = specOf(fault)!;
    t.same({ ...parseFault(spec, 'spec').fault }, rest, spec);
    t.match(spec, /^[\x21-\x7e]+$/, 'it fits into a header');
  }
  for (const fault of JSON_ONLY.slice(0, 1)) t.equal(specOf(fault), undefined);
  t.equal(specOf(JSON_ONLY[2]!), undefined);
  t.equal(specOf(JSON_ONLY[3]!), undefined);
});

t.test('for each operation its stages and codes are offered, and no others', async (t) => {
  const { operations, kinds } = await stage(t);
  for (const { id, stages, codes } of operations) {
    for (const { name } of kinds.items) {
      const draft = settle({ ...EMPTY, operations: [id], name, hasOtherCodes: false }, kinds, operations);
      const offers = offersFor(draft, kinds, operations);
      t.same(offers.offered.codes.map((code) => code.name).sort(), [...codes].sort(), id);
      const strange = offers.stages.filter((one) => !stages.includes(one) || one === 'accept');
      t.same([strange, offers.stages.length > 0], [[], true], `${name} of ${id}`);
      const isListed = codes.includes(name) || offers.offered.kinds.some((kind) => kind.name === name);
      t.equal(draft.name, isListed ? name : 'rate_limited', 'what is not offered gives way');
    }
  }
  const latency = { ...EMPTY, name: 'latency', operations: ['commitPack'] };
  t.same(
    offersFor(latency, kinds, operations).stages,
    ['headers', 'body', 'auth', 'before', 'after', 'response.head', 'response.body'],
    'in their order',
  );
  t.same(offersFor({ ...latency, operations: [] }, kinds, operations).stages, Object.keys(kinds.stages));
});

t.test('a draft is what the fields say', (t) => {
  const condition = (id: string, value: string, name = '') => ({ id, name, value });
  const draft = {
    ...EMPTY,
    operations: ['grep', 'blame'],
    keys: { 'retry-after': 'a b' },
    skip: '2',
    stage: 'after',
    conditions: [
      condition('repository', 'team/*'),
      condition('has', 'a, b'),
      condition('protocol', '2'),
      condition('header', 'x', '__proto__'),
      condition('header', 'y', 'X-B'),
      condition('subject', ''),
    ],
  };
  const header = JSON.parse('{"__proto__":"x","X-B":"y"}');
  t.same(
    JSON.stringify(bodyOfDraft(draft)),
    JSON.stringify({
      spec: 'rate_limited*1+2@after;retry-after=a%20b',
      match: {
        op: ['grep', 'blame'],
        repo: 'team/*',
        token: { scopes: { has: ['a', 'b'] } },
        git: { protocol: 2 },
        http: { header },
      },
    }),
  );
  t.end();
});

t.test('each form that adds a fault adds this one', async (t) => {
  const { emulator, admin, formsOf, taken } = await stage(t);
  for (const fault of FAULTS) {
    const { curl, typescript, scenario } = formsOf(fault);
    const what = JSON.stringify(fault);
    await shell(curl!.text!);
    t.same(await taken(), [fault], `curl: ${what}`);
    new Function('emulator', typescript!.text!)(emulator);
    t.same(await taken(), [fault], `TypeScript: ${typescript!.text}`);
    const read = parse(scenario!.text!);
    await admin('POST', 'scenarios', { ...read, start: true });
    t.same(await taken(), [fault], `scenario: ${scenario!.text}`);
    await admin('DELETE', 'scenarios/my-scenario');
  }
  const folder = await mkdtemp(join(tmpdir(), 'fault-forms-'));
  const file = join(folder, 'scenario.yaml');
  await writeFile(file, formsOf(FAULTS[1]!).scenario!.text!);
  t.match(await shell(`npx emulator scenario check ${file}`), 'in order');
});

t.test('each command line adds this fault', async (t) => {
  const { formsOf, taken } = await stage(t);
  // Each takes a process.
  const some = FAULTS.filter((_, at) => at % 3 === 1);
  const lines = some.map((fault) => formsOf(fault).cli!.text!);
  t.match(lines[0], / --op getRepository --url http/);
  t.match(lines.at(-1), /--file \/dev\/stdin <<'END'\n\{.*\}\nEND$/, 'what no flag says stands in a file');
  await shell(lines.join('\n'));
  t.same(await taken(), some);
});

t.test('each claim and each header asks for this fault', async (t) => {
  const { emulator, operations, formsOf, taken } = await stage(t);
  for (const repo of ['app', 'a']) await emulator.repository(repo).seed({ 'a.txt': 'a' });
  const ask = async (fault: Fault, headers: Record<string, string>) => {
    const id = operationsOf(fault)[0]?.replace('*', 'InfoRefs') ?? 'getRepository';
    const { method, path } = operations.find((one) => one.id === id)!.routes[0]!;
    const url = `${emulator.baseUrl}${path.replace('{repo_name}', 'app')}?service=git-upload-pack`;
    const body = method === 'GET' ? {} : { body: '{}', headers: { ...headers, 'content-type': 'application/json' } };
    const signal = AbortSignal.timeout(300);
    await fetch(url, { method, headers, signal, ...body })
      .then((answer) => answer.text())
      .catch(() => undefined);
  };
  const seen = new Set<string>();
  for (const fault of FAULTS) {
    const { header, claim, token } = formsOf(fault);
    const what = JSON.stringify(fault);
    const { match: _match, ...rest } = fault;
    if (claim!.text === undefined) {
      t.match(claim!.why, /cannot be asked for/, what);
      t.match([header!.text, token!.text], [undefined, undefined]);
      continue;
    }
    const { emu } = JSON.parse(`{${claim!.text}}`);
    const scopes = ['git:read', 'git:write', 'repo:write', 'org:read'];
    const signed = await emulator.token({ repo: 'app', scopes, faults: emu.faults });
    const isGit = /^git/.test(operationsOf(fault)[0] ?? '');
    await ask(fault, { authorization: isGit ? `Basic ${btoa(`t:${signed}`)}` : `Bearer ${signed}` });
    t.same(await taken(), [fault], `claim: ${what}`);
    if (header!.text === undefined) {
      t.match(header!.why, isGit ? /Git sends|which requests|in words/ : /which requests|in words/, what);
      seen.add(header!.why!.slice(0, 12));
      continue;
    }
    const [name, value] = header!.text.split(/: (.*)/s);
    await ask(fault, { authorization: `Bearer ${await emulator.token({ repo: 'app', scopes })}`, [name!]: value! });
    t.same(await taken(), [rest], `header: ${what}`);
  }
  t.equal(seen.size, 3, 'a header cannot say some faults, for three reasons');
});

t.test('the token of the command line has the claim', async (t) => {
  const { formsOf } = await stage(t);
  const some = FAULTS.filter((_, at) => at % 8 === 1)
    .map(formsOf)
    .filter(({ token }) => token!.text !== undefined);
  const tokens = (await shell(some.map(({ token }) => token!.text!).join('\n'))).trim().split('\n');
  t.equal(tokens.length, some.length);
  for (const [at, { claim }] of some.entries()) {
    const payload = JSON.parse(Buffer.from(tokens[at]!.split('.')[1]!, 'base64url').toString());
    t.same({ emu: payload.emu }, JSON.parse(`{${claim!.text}}`));
  }
});

t.test('each whole test passes, which it does only where the fault fires', async (t) => {
  const { formsOf } = await stage(t);
  const forms = FAULTS.map((fault) => formsOf(fault).test!);
  const texts = forms.flatMap(({ text }) => text ?? []);
  t.ok(texts.length >= 20, `${texts.length} can be written`);
  for (const text of texts) t.ok(text.split('\n').length <= 10, text);
  // In one file, so that one emulator serves them.
  const lines = texts.flatMap((text) => text.split('\n'));
  const isHead = (line: string) => /^(?:import|const)\b/.test(line);
  const source = [...new Set(lines.filter(isHead)), ...lines.filter((line) => !isHead(line))].join('\n');
  const folder = await mkdtemp(join(tmpdir(), 'fault-tests-'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(ROOT, join(folder, 'node_modules/repohost-emulator'));
  await writeFile(join(folder, 'all.test.mjs'), source);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--test', '--test-reporter=tap', join(folder, 'all.test.mjs')];
  const { stdout } = await run(process.execPath, args, { env }).catch((error) => error);
  t.match(stdout, new RegExp(`# pass ${texts.length}\n# fail 0`), stdout);
});
