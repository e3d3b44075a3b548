import t, { type Test } from 'tap';
import { packBody, type Service, type ServiceResponse, startService } from '../service.js';
import { stateDigest } from '../world/state-digest.js';

const MiB = 1024 * 1024;
const PACK = '/api/v1/repos/commit-pack';
const AUTHOR = { name: 'Ada', email: 'ada@example.com' };

const lines = (...values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const chunk = (content_id: string, data: unknown, eof: unknown = true) => ({ blob_chunk: { content_id, data, eof } });
const file = (path: string, extra: Record<string, unknown> = {}) => ({ path, content_id: path, ...extra });
const metadata = (files: unknown, extra: Record<string, unknown> = {}) => ({
  metadata: { target_branch: 'main', commit_message: 'm', author: AUTHOR, files, ...extra },
});
const base64 = (text: string) => Buffer.from(text).toString('base64');

/**
 * Starts an emulator with one repository. Returns functions that send a commit-pack body. `refuse` also asserts that
 * the service refuses the request and changes no state.
 */
async function setUp(t: Test) {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed('team/app', { 'a/b': 'ab\n', keep: 'keep\n' });
  const send = (body: string | Buffer | AsyncIterable<Buffer>) => service.call('POST', PACK, { body });
  const refuse = async (what: string, body: Parameters<typeof send>[0], status = 400): Promise<ServiceResponse> => {
    const before = stateDigest(service.world);
    const response = await send(body);
    t.equal(response.status, status, `${what}: ${response.text.slice(0, 200)}`);
    t.equal(response.headers['content-type'], 'application/problem+json', what);
    t.equal(stateDigest(service.world), before, `${what}: nothing is left`);
    t.equal(Reflect.get({}, 'polluted'), undefined);
    return response;
  };
  const accept = async (what: string, body: Parameters<typeof send>[0]): Promise<ServiceResponse> => {
    const response = await send(body);
    t.equal(response.status, 201, `${what}: ${response.text.slice(0, 200)}`);
    return response;
  };
  return { service, send, refuse, accept };
}

async function read(service: Service, path: string): Promise<string | number> {
  const response = await service.call('GET', `/api/v1/repos/file?path=${encodeURIComponent(path)}`);
  return response.status === 200 ? response.text : response.status;
}

t.test('lines: framing, order and members', async (t) => {
  const { service, refuse, accept } = await setUp(t);
  const one = metadata([file('x')]);
  const good = chunk('x', base64('hello'));
  await refuse('an empty body', '');
  await refuse('blank lines only', '\n\n\n');
  await refuse('no JSON', 'hello\n');
  await refuse('an array', lines([one], good));
  await refuse('metadata twice', lines(one, one, good));
  await refuse('metadata second', lines(good, one));
  await refuse('two keys in the first line', lines({ ...one, blob_chunk: good.blob_chunk }));
  await refuse('two keys in a chunk line', lines(one, { ...good, extra: 1 }));
  await refuse('an unknown key in a chunk', lines(one, { blob_chunk: { ...good.blob_chunk, extra: 1 } }));
  await refuse('an unknown line', lines(one, good, { trailer: {} }));
  await refuse('garbage behind the last chunk', `${lines(one, good)}garbage`);
  await refuse('a half line', lines(one, good).slice(0, -12));
  await refuse('a byte order mark', `\ufeff${lines(one, good)}`);
  await refuse(
    'bytes that are no UTF-8',
    Buffer.from(lines(one, good).replace('hello', 'h').replace('"m"', '"\xff"'), 'latin1'),
  );
  await refuse('metadata nested too deep', `{"metadata":${'['.repeat(100)}${']'.repeat(100)}}\n`);
  await refuse('a thousand blank lines', `${lines(one, good)}${'\n'.repeat(1002)}`);
  await refuse('a million one-byte lines', '1\n'.repeat(1_000_000));
  await refuse('a prototype in the first line', '{"__proto__":{"polluted":1},"metadata":{}}\n');
  await accept(
    'carriage returns, blank lines, no final line feed',
    `${lines(one, good).replaceAll('\n', '\r\n\n')}`.trimEnd(),
  );
  t.equal(await read(service, 'x'), 'hello');
});

t.test('a line longer than the limit ends the request', async (t) => {
  const { refuse } = await setUp(t);
  async function* endless(head: string, pieces: number) {
    yield Buffer.from(head);
    const piece = Buffer.alloc(256 * 1024, 0x61);
    for (let sent = 0; sent < pieces; sent++) yield piece;
  }
  await refuse('metadata of 20 MiB', endless('{"metadata":"', 80));
  const head = `${lines(metadata([file('x')]))}{"blob_chunk":{"content_id":"x","data":"`;
  await refuse('a chunk line of 7 MiB', endless(head, 28));
  await refuse('a message of 20 MiB', lines(metadata([], { commit_message: 'm'.repeat(20 * MiB) })));
});

t.test('chunks: exact size limit, base64 variants, order', async (t) => {
  const { service, refuse, accept } = await setUp(t);
  const one = metadata([file('x')]);
  const full = Buffer.alloc(4 * MiB, 0xab);
  await refuse('4 MiB and one byte', lines(one, chunk('x', Buffer.alloc(4 * MiB + 1).toString('base64'))));
  const whole = await accept('4 MiB', lines(one, chunk('x', full.toString('base64'))));
  t.equal(whole.json.commit.blob_count, 1);
  const two = await accept(
    'two full chunks',
    lines(one, chunk('x', full.toString('base64'), false), chunk('x', full.toString('base64'))),
  );
  t.equal(two.json.result.success, true);
  t.equal(Buffer.byteLength(String(await read(service, 'x')), 'utf8') > 0, true);
  const shown = await service.call('GET', '/api/v1/repos/file?path=x');
  t.equal(shown.bytes.length, 8 * MiB);

  const shapes: unknown[] = [
    'a',
    'ab',
    'abc',
    'aGVs bG8=',
    ' aGVsbG8=',
    'aGVsbG8=\n',
    'aGVs\tbG8=',
    'aGVs!bG8=',
    'aGVsbG8==',
    '_-8=',
    '-_-_',
    '====',
    '=',
    'a===',
    '=aaa',
    'aa=a',
    'aGVsbG9=',
    'aGVsbH==',
    'data:,abc',
    'aGVsbG8',
    'YQ==YQ==',
    'YQ=\u0000',
    'ＹＱ＝＝',
    null,
    7,
    true,
    ['YQ=='],
    { a: 1 },
    undefined,
  ];
  for (const data of shapes) await refuse(`data ${JSON.stringify(data)}`, lines(one, chunk('x', data)));
  for (const eof of ['true', 1, null, []]) await refuse(`eof ${eof}`, lines(one, chunk('x', '', eof)));

  const pair = metadata([file('x'), file('y')]);
  await refuse('a chunk after the last', lines(one, chunk('x', ''), chunk('x', '')));
  await refuse('an unfinished file', lines(one, chunk('x', base64('a'), false)));
  await refuse('no chunk at all', lines(one));
  await refuse('one file without', lines(pair, chunk('x', '')));
  await refuse('an unknown content_id', lines(one, chunk('z', '')));
  await refuse(
    'content for a delete',
    lines(metadata([file('keep', { operation: 'delete' })]), chunk('keep', base64('x'))),
  );
  await accept(
    'files interleaved, chunks of nothing',
    lines(
      pair,
      chunk('y', base64('1'), false),
      chunk('x', '', false),
      chunk('y', base64('2')),
      chunk('x', base64('3')),
    ),
  );
  t.same([await read(service, 'x'), await read(service, 'y')], ['3', '12']);
  await accept(
    'an empty last chunk for a delete',
    lines(metadata([file('keep', { operation: 'delete' })]), chunk('keep', '')),
  );
  t.equal(await read(service, 'keep'), 404);
});

t.test('clients may choose any content id, including names such as __proto__', async (t) => {
  const { service, refuse, accept } = await setUp(t);
  const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', ' ', '\u0000', 'x'.repeat(10_000), 'größe'];
  for (const id of ids) await refuse(`unknown ${id.slice(0, 20)}`, lines(metadata([file('x')]), chunk(id, '')));
  await refuse('an empty one', lines(metadata([file('x', { content_id: '' })]), chunk('', '')));
  await refuse('none', lines(metadata([{ path: 'x' }])));
  await refuse('none on a delete', lines(metadata([{ path: 'keep', operation: 'delete' }])));
  await refuse('a number', lines(metadata([file('x', { content_id: 1 })])));
  const files = ids.map((content_id, n) => ({ path: `ids/${n}`, content_id }));
  await accept('each as it is', lines(metadata(files), ...ids.map((id, n) => chunk(id, base64(`${n}`)))));
  for (const n of ids.keys()) t.equal(await read(service, `ids/${n}`), `${n}`);
  const shared = [file('s1', { content_id: 's' }), file('s2', { content_id: 's' })];
  await accept('one for two files', lines(metadata(shared), chunk('s', base64('shared'))));
  t.same([await read(service, 's1'), await read(service, 's2')], ['shared', 'shared']);
});

t.test('an aborted upload stores nothing, wherever it ends', async (t) => {
  const { service } = await setUp(t);
  const { world } = service;
  const body = Buffer.from(
    packBody({ 'new/a': Buffer.alloc(30_000, 1), 'new/b': 'b', 'a/b': null, big: Buffer.alloc(200_000, 2) }),
  );
  const before = stateDigest(world);
  const { randomNumbers } = await import('../../git/test/random-numbers.js');
  const random = randomNumbers(5);
  const cut = async (length: number) => {
    async function* partial() {
      for (let at = 0; at < length; at += 16_384) {
        yield body.subarray(at, Math.min(at + 16_384, length));
        await new Promise((resolve) => setImmediate(resolve));
      }
      throw new Error('cut');
    }
    await service.call('POST', PACK, { body: partial() }).then(
      (response) => t.fail(`a cut body was answered with ${response.status}`),
      () => undefined,
    );
  };
  for (let round = 0; round < 25; round++) {
    await Promise.all(Array.from({ length: 8 }, () => cut(random(body.length))));
    if (stateDigest(world) !== before) return t.fail('something was written');
  }
  const outcomes = [...world.state.journal.entries()].filter(({ operation }) => operation === 'commitPack');
  t.ok(
    outcomes.slice(1).every(({ status }) => status === 499),
    'each ended as canceled',
  );
  t.ok(outcomes.length > 150, `${outcomes.length - 1} uploads got as far as the operation`);
  t.equal((await service.call('POST', PACK, { body })).status, 201, 'and the whole one goes in');
  t.not(stateDigest(world), before);
});

t.test('expected heads and missing branches', async (t) => {
  const { service, refuse, accept } = await setUp(t);
  const tip = async (branch: string) =>
    (await service.call('GET', `/api/v1/repos/commit?sha=${branch}`)).json.commit.sha;
  const head = await tip('main');
  const with_ = (extra: Record<string, unknown>) => lines(metadata([file('x')], extra), chunk('x', ''));
  const conflict = await refuse('another head', with_({ expected_head_sha: 'f'.repeat(40) }), 409);
  t.match(conflict.json, {
    code: 'conflict',
    commit: null,
    result: { branch: 'main', old_sha: head, new_sha: head, success: false, status: 'precondition_failed' },
  });
  await refuse('the new name wins', with_({ expected_head_sha: head, expected_target_sha: 'f'.repeat(40) }), 409);
  for (const bad of ['', head.slice(1), head.toUpperCase(), 'main', 7, null]) {
    await refuse(`expected ${bad}`, with_({ expected_head_sha: bad }));
  }
  // `result.status` is `precondition_failed` for every failed write, because the specification documents no other value.
  // Only `code` says which object is missing.
  const missing = {
    code: 'branch_not_found',
    commit: null,
    result: { old_sha: '0'.repeat(40), new_sha: '0'.repeat(40), success: false, status: 'precondition_failed' },
  };
  t.match((await refuse('no such target', with_({ target_branch: 'none' }), 404)).json, missing);
  const noBase = await refuse('no such base', with_({ target_branch: 'n', base_branch: 'none' }), 404);
  t.match(noBase.json, missing);
  t.match(noBase.json, { detail: 'Base branch none does not exist.', result: { branch: 'n' } });
  const moved = { target_branch: 'n', base_branch: 'main', expected_head_sha: 'f'.repeat(40) };
  const elsewhere = await refuse('another base head', with_(moved), 409);
  t.match(elsewhere.json.result, { branch: 'n', old_sha: '0'.repeat(40) }, 'the target did not exist before');
  await refuse('a folder in the way', with_({ target_branch: 'main/x', base_branch: 'main' }), 409);
  await refuse(
    'the ephemeral base is another',
    with_({ target_branch: 'n', base_branch: 'main', ephemeral_base: true }),
    404,
  );
  await refuse('an ephemeral target is another', with_({ ephemeral: true }), 404);
  const made = await accept('a branch from its base', with_({ ...moved, expected_head_sha: head }));
  t.match(made.json.result, { old_sha: '0'.repeat(40), branch: 'n' });
  const commit = (await service.call('GET', '/api/v1/repos/commit?sha=n')).json.commit;
  t.same(commit.parent_shas, [head]);
  for (const name of [
    '',
    'refs/heads/x',
    'HEAD',
    '-x',
    'a..b',
    'x.lock',
    'a b',
    'a\nb',
    'x^{}',
    '@',
    'a\u0000',
    7,
    null,
  ]) {
    await refuse(`branch ${JSON.stringify(name)}`, with_({ target_branch: name, base_branch: 'main' }));
  }
  t.equal(await tip('main'), head);
});
