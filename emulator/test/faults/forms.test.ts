import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { operations } from '../../api/index.js';
import type { Fault, GivenFault } from '../../faults/fault.js';
import type { FaultForm } from '../../faults/forms.js';
import { parseFault, writeFault } from '../../faults/grammar.js';
import { startEmulator } from '../../index.js';

// needs: git

t.setTimeout(120_000);

const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const HOSTILE = '\u202e"$(id)`\'\\ <b>';

/**
 * Faults as the form of the web page creates them. Each has a fault in the text notation, and conditions on the
 * requests that it matches.
 */
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
  ['tls;how=expired'],
  ['latency*1;ms=5;jitter=2;dist=normal', { op: 'getRepository' }],
  ['throttle*1;bps=65536', { op: 'listCommits' }],
  ['slice*1;size=100;pause=1', { op: 'listCommits' }],
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

/** Faults (injected failures) that together use all members of all kinds. */
const MEMBERS: readonly Fault[] = [
  {
    do: { error: { code: 'bad_gateway' } },
    match: {
      op: 'getRepository',
      org: 'd*',
      token: { kid: 'es256', alg: 'ES256', scopes: { has: ['git:read', 'repo:write'], lacks: ['git:wrote'] } },
      http: { method: 'GET', query: { service: 'a;b' } },
    },
    when: { skip: 0, every: 2, chance: 0.5, by: ['token', 'repo'], from: 'PT0S', until: '2999-01-01T00:00:00Z' },
    priority: -3,
    enabled: false,
    note: HOSTILE,
    ttl: 'PT1H',
    expect: { fired: 0 },
  },
  {
    do: { lost: 'fin' },
    match: { op: 'createBranch', http: { body: { '/base_ref': 'main', '/a~1b=;,': '*' } } },
  },
  {
    do: { lost: 'fin' },
    match: {
      op: 'commitPack',
      git: { ref: 'refs/heads/main', path: 'docs/*', message: 'Fix: a;b' },
      http: {
        header: { 'x-a': { contains: 'a*' }, 'x~*': '~' },
        body: { '$.a[?@.b=="c*~"]': { regex: '^(a|b)*$' }, '/a~1*': '*', '': { contains: HOSTILE } },
      },
    },
  },
  {
    do: { error: { code: 'bad_gateway' } },
    at: 'git.advertise',
    match: { git: { service: 'upload-pack', phase: 'advertise', protocol: 2 }, op: 'gitInfoRefs' },
  },
];

/** Parses a fault in the text notation, such as `name;key=value`. Adds the conditions of the row. */
function readWords([spec, match]: (typeof WORDS)[number]): Fault {
  const [name, ...keys] = spec.split(/;(?=[\w-]+=)/);
  const encoded = keys.map((pair) => pair.replace(/=(.*)$/s, (_, value) => `=${encodeURIComponent(value)}`));
  const { fault } = parseFault([name, ...encoded].join(';'), 'spec');
  return { ...(fault as object), ...(match && { match }) };
}

/** Faults (injected failures) that the text notation cannot express. They are printed as JSON. */
const JSON_ONLY: readonly Fault[] = [
  {
    do: { lost: 'fin' },
    match: { op: 'createBranch', http: { body: { '/a': { equals: 1 }, '/b': { regex: 'b', contains: 'b' } } } },
  },
  { do: [{ latency: { ms: 1 } }, { throttle: { bps: 65536 } }], match: { op: 'archive' } },
  { sequence: ['pass', { error: { code: 'bad_gateway' } }], priority: 3, note: HOSTILE },
  { do: { error: { code: 'bad_gateway', detail: "It's 'gone'" } }, when: { every: 2, times: 1 }, ttl: 'PT1H' },
  { do: { ng: { unpack: 'disk full', refs: { 'refs/heads/a': 'no' } } }, expect: { fired: 0 } },
];

const FAULTS: readonly Fault[] = [...WORDS.map(readWords), ...MEMBERS, ...JSON_ONLY];

/**
 * Starts an emulator. Returns a function that prints a fault in every notation, and one that reads and removes the
 * emulator's faults.
 */
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
  const formsOf = async (fault: Fault): Promise<Record<string, FaultForm>> => {
    const { fault: read, forms } = await admin('POST', 'faults/forms', fault);
    t.same(read, fault);
    return Object.fromEntries(forms.map((form: FaultForm) => [form.id, form]));
  };
  /** Removes all faults of the emulator and returns their definitions, so that the next notation can be tested. */
  const taken = async (): Promise<Fault[]> => {
    const { items } = await admin('GET', 'faults?limit=1000');
    for (const { id } of items) await admin('DELETE', `faults/${encodeURIComponent(id)}`);
    return items.map(definitionOf);
  };
  return { emulator, admin, formsOf, taken };
}

/** Returns a fault as it was defined, without the id and the counters that the emulator adds. */
function definitionOf({ note, priority, enabled, match, when, at, do: act, sequence, expect, ttl }: Fault): Fault {
  const members = {
    note,
    priority,
    enabled: enabled === false ? enabled : undefined,
    match,
    when,
    at,
    do: act,
    sequence,
    expect,
    ttl,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function operationsOf({ match }: Fault): readonly string[] {
  return match?.op === undefined ? [] : [match.op].flat();
}

/**
 * Runs shell commands and returns their output. Replaces `npx emulator` with the program of this checkout, because the
 * package need not be installed.
 */
async function shell(text: string): Promise<string> {
  const command = text.replaceAll('npx emulator', '"$NODE" bin/emulator.js');
  const { stdout } = await run('sh', ['-ec', command], { cwd: ROOT, env: { ...process.env, NODE: process.execPath } });
  return stdout;
}

t.test('the text form and JSON are two spellings of one fault', async (t) => {
  for (const fault of FAULTS) {
    const spec = writeFault(fault);
    t.equal(spec === undefined, JSON_ONLY.includes(fault), JSON.stringify(fault));
    if (spec === undefined) continue;
    t.same(parseFault(spec, 'spec').fault, fault, spec);
    t.match(spec, /^[\x21-\x7e]+$/, 'it fits into a header');
  }
});

t.test('an added fault has the forms of its draft, and an invalid fault has none', async (t) => {
  const { admin, emulator } = await stage(t);
  const spec = 'rate_limited*1;match.op=getRepository';
  const { id } = await admin('POST', 'faults', { spec, id: 'mine' });
  const { forms, fault } = await admin('GET', `faults/${id}/forms`);
  t.match(fault, { id: 'mine', match: { op: 'getRepository' } });
  t.same(forms, (await admin('POST', 'faults/forms', { spec })).forms, 'without the id');
  t.same(
    forms.map((form: FaultForm) => form.id),
    ['header', 'claim', 'token', 'command', 'typescript', 'json', 'test', 'scenario', 'curl'],
  );
  await t.rejects(admin('GET', 'faults/none/forms'), /does not exist/);
  await t.rejects(admin('POST', 'faults/forms', { spec: 'cut;match.op=none' }), /unknown operation/);
  await t.rejects(
    admin('POST', 'faults/forms', { spec, match: {} }),
    /match is not allowed, because the text in spec sets it already/,
  );
  t.equal((await admin('GET', 'faults')).items.length, 1, 'nothing was added');
  const guarded = await fetch(`${emulator.adminUrl}/faults/mine/forms`, { headers: { authorization: 'Bearer x' } });
  const { text } = ((await guarded.json()) as { forms: FaultForm[] }).forms.at(-1)!;
  t.match(text, '-H "Authorization: Bearer $EMULATOR_ADMIN_TOKEN"', 'where the client sends a token');
});

t.test('the older JSON names of a kind are accepted, and the current ones are shown', async (t) => {
  const { emulator, taken } = await stage(t);
  const rows: readonly (readonly [given: GivenFault['do'], shown: Fault['do']])[] = [
    [{ lostResponse: 'rst' }, { lost: 'rst' }],
    [{ lostResponse: { status: 502 } }, { lost: { status: 502 } }],
    [{ unknownCode: { status: 418, code: 'tea' } }, { code: { status: 418, code: 'tea' } }],
    [{ report: { unpack: 'no' } }, { ng: { unpack: 'no' } }],
    [{ corrupt: { dropObject: 2 } }, { drop_object: { bytes: 2 } }],
    [
      [{ latency: { ms: 1 } }, { lostResponse: 'fin' }],
      [{ latency: { ms: 1 } }, { lost: 'fin' }],
    ],
  ];
  for (const [given, shown] of rows) {
    emulator.fault({ do: given! });
    t.same(await taken(), [{ do: shown }]);
  }
  emulator.fault({ sequence: ['pass', { lostResponse: 'fin' }] });
  t.same(await taken(), [{ sequence: ['pass', { lost: 'fin' }] }]);
});

t.test('each form that adds a fault adds this one', async (t) => {
  const { emulator, admin, formsOf, taken } = await stage(t);
  for (const fault of FAULTS) {
    const { curl, typescript, scenario, json } = await formsOf(fault);
    t.same(JSON.parse(json!.text!), fault);
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
  await writeFile(file, (await formsOf(FAULTS[1]!)).scenario!.text!);
  t.match(await shell(`npx emulator scenario check ${file}`), 'is valid');
});

t.test('each command line adds this fault', async (t) => {
  const { formsOf, taken } = await stage(t);
  // Test only every third fault, because each command starts a process.
  const some = FAULTS.filter((_, at) => at % 3 === 1);
  const lines = await Promise.all(some.map(async (fault) => (await formsOf(fault)).command!.text!));
  t.match(lines[0], /;match\.op=getRepository' --url http/);
  t.match(lines.at(-1), /--file \/dev\/stdin <<'END'\n\{.*\}\nEND$/, 'what no flag says stands in a file');
  await shell(lines.join('\n'));
  t.same(await taken(), some);
});

t.test('each claim and each header carries this fault', async (t) => {
  const { emulator, formsOf, taken } = await stage(t);
  for (const repo of ['app', 'a']) await emulator.repository(repo).seed({ 'a.txt': 'a' });
  const ask = async (fault: Fault, headers: Record<string, string>) => {
    const id = operationsOf(fault)[0]?.replace('*', 'InfoRefs') ?? 'getRepository';
    const { method, path } = operations.find((one) => one.id === id)!.routes[0]!;
    const url = `${emulator.baseUrl}${path.replace('{repo_name}', 'app')}?service=git-upload-pack`;
    const body = method === 'GET' ? {} : { body: '{}', headers: { ...headers, 'content-type': 'application/json' } };
    const signal = AbortSignal.timeout(300);
    await fetch(url, { method, headers, signal, ...body })
      .then((response) => response.text())
      .catch(() => undefined);
  };
  for (const fault of FAULTS) {
    const { header, claim, token } = await formsOf(fault);
    const what = JSON.stringify(fault);
    if (claim!.text === undefined) {
      t.match(claim!.why, /cannot carry/, what);
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
      t.ok(JSON_ONLY.includes(fault), what);
      t.match(header!.why, /only in the text form/, what);
      continue;
    }
    const [name, value] = header!.text.split(/: (.*)/s);
    await ask(fault, { authorization: `Bearer ${await emulator.token({ repo: 'app', scopes })}`, [name!]: value! });
    t.same(await taken(), [fault], `header: ${what}`);
  }
});

t.test('the token of the command line has the claim', async (t) => {
  const { formsOf } = await stage(t);
  const forms = await Promise.all(FAULTS.filter((_, at) => at % 8 === 1).map(formsOf));
  const some = forms.filter(({ token }) => token!.text !== undefined);
  const tokens = (await shell(some.map(({ token }) => token!.text!).join('\n'))).trim().split('\n');
  t.equal(tokens.length, some.length);
  for (const [at, { claim }] of some.entries()) {
    const payload = JSON.parse(Buffer.from(tokens[at]!.split('.')[1]!, 'base64url').toString());
    t.same({ emu: payload.emu }, JSON.parse(`{${claim!.text}}`));
  }
});

t.test('each complete test passes, which requires that the fault fires', async (t) => {
  const { formsOf } = await stage(t);
  const forms = await Promise.all(FAULTS.map(async (fault) => (await formsOf(fault)).test!));
  const texts = forms.flatMap(({ text }) => text ?? []);
  t.ok(texts.length >= 20, `${texts.length} can be written`);
  for (const text of texts) t.ok(text.split('\n').length <= 10, text);
  // Write all snippets into one file, so that they share one emulator.
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
