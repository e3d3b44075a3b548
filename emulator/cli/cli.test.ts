import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import t, { type Test } from 'tap';
import { optionRows } from '../config/options.js';
import { variantRows } from '../config/variants.js';
import { oidOf, packOf, pushBody, type RawObject } from '../test/git/raw-push.js';
import { readFlags } from './flags.js';
import { createLog } from './log.js';
import { main } from './main.js';
import { publishReady } from './ready.js';

const NOW = Date.UTC(2026, 0, 1);

/** Runs a command of the program `emulator` in this process, and returns its exit code and output. */
async function run(argv: readonly string[], environment: Record<string, string> = {}) {
  let out = '';
  let err = '';
  const code = await main(argv, {
    print: (text) => {
      out += text;
    },
    printed: () => Promise.resolve(undefined),
    warn: (text) => {
      err += text;
    },
    input: async () => '',
    isInteractive: false,
    columns: 100,
    environment,
    now: () => NOW,
  });
  return { code, out, err };
}

/** Asserts that the command line is refused: exit code 2, empty standard output, and one sentence on standard error. */
async function refused(test: Test, argv: readonly string[], sentence: RegExp) {
  const { code, out, err } = await run(argv);
  test.equal(code, 2, argv.join(' '));
  test.equal(out, '');
  test.match(err, sentence);
  test.match(err, /^[^\n]+[.?]\n$/, 'one sentence');
}

t.test('token prints a token and nothing else', async (t) => {
  const { code, out, err } = await run(['token', '--repo', 'team/app']);
  t.equal(code, 0);
  t.equal(err, '');
  t.match(out, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  t.same(decodeProtectedHeader(out.trim()), { alg: 'ES256', typ: 'JWT', kid: 'es256' });
  const iat = NOW / 1000;
  const claims = { iss: 'demo', sub: 'emulator', repo: 'team/app', scopes: ['git:write', 'git:read'], iat };
  t.same(decodeJwt(out.trim()), { ...claims, exp: iat + 31_536_000 });
});

t.test('the flags of token set the claims', async (t) => {
  const minted = async (...argv: string[]) => (await run(['token', ...argv])).out.trim();
  const flags = [
    '--org',
    'acme',
    '--key',
    'second',
    '--kid',
    'x',
    '--sub',
    'me',
    '--ttl',
    '60',
    '--clock',
    '2020-01-01',
  ];
  const token = await minted('--repo', 'a', '--scopes', 'git:read,repo:write', ...flags);
  t.same(decodeProtectedHeader(token), { alg: 'ES256', typ: 'JWT', kid: 'x' });
  t.same(decodeJwt(token), {
    iss: 'acme',
    sub: 'me',
    repo: 'a',
    scopes: ['git:read', 'repo:write'],
    iat: 1577836800,
    exp: 1577836860,
  });
  t.equal(decodeJwt(await minted('--no-repo')).repo, undefined, '--no-repo leaves the claim out');
  t.equal(decodeJwt(await minted('--scopes', 'org:read')).repo, undefined, 'a token of the organization needs none');
  t.match(decodeJwt(await minted('--repo', 'a', '--claims', '{"ops":["no-push"],"sub":"me"}')), {
    sub: 'me',
    repo: 'a',
    ops: ['no-push'],
  });
  const restricted = decodeJwt(await minted('--repo', 'a', '--key', 'restricted'));
  t.same(restricted.scopes, ['git:read'], 'the default is what the key allows');
  t.equal(restricted.exp! - restricted.iat!, 3600);
  const [, , pem] = (await run(['keys', '--json'])).out.match(/("private_key_file": "(.*rs256\.pem)")/)!;
  const fromFile = await minted('--repo', 'a', '--key', pem!);
  t.same(decodeProtectedHeader(fromFile), { alg: 'RS256', typ: 'JWT' }, 'a key file has no id');
  const { out } = await run(['token', '--repo', 'a'], { EMULATOR_ORG: 'first,other' });
  t.equal(decodeJwt(out.trim()).iss, 'first', 'the organization that start would have');
});

t.test('token refuses invalid values', async (t) => {
  await refused(t, ['token'], /--repo, or use --no-repo/);
  await refused(t, ['token', '--repo', 'a', '--key', 'nobody'], /neither a test key nor a readable file/);
  await refused(t, ['token', '--repo', 'a', '--key', fileURLToPath(import.meta.url)], /PKCS#8/);
  await refused(t, ['token', '--repo', 'a', '--ttl', 'x'], /--ttl must be a whole number/);
  for (const claims of ['x', '[]', 'null', '"ops"'])
    await refused(t, ['token', '--repo', 'a', '--claims', claims], /--claims must be a JSON object/);
  await refused(t, ['token', '--repo', 'a', '--clock', 'x'], /^--clock must be "real" or/);
  await refused(t, ['token', '--repo', 'a', '--bad'], /Unknown argument: bad/);
});

t.test('lists are complete', async (t) => {
  const keys = await run(['keys']);
  for (const id of ['es256', 'es384', 'es512', 'rs256', 'restricted', 'deleted', 'second']) {
    t.match(keys.out, new RegExp(`^${id} .*/${id}\\.pem$`, 'm'));
  }
  for (const { private_key_file } of JSON.parse((await run(['keys', '--json'])).out))
    t.ok(existsSync(private_key_file));
  const variants = await run(['variants']);
  for (const { name, values } of variantRows()) t.match(variants.out, `${name}: ${values[0]} (default), ${values[1]}`);
  t.same(JSON.parse((await run(['variants', '--json'])).out), variantRows());
  const help = await run(['start', '--help']);
  for (const { flag, variable } of optionRows()) {
    t.match(help.out, `--${flag} `);
    t.match(help.out.replace(/\s+/g, ' '), variable);
  }
  const routes = await run(['routes']);
  t.match(routes.out, /^METHOD +PATH +OPERATION +SCOPES +SUMMARY$/m);
  t.match(routes.out, /^POST +\/api\/repos +createRepository +repo:write /m);
  t.match(JSON.parse((await run(['routes', '--json'])).out)[0], { method: String, path: /^\//, operation: String });
  t.match((await run(['--version'])).out, /^\d+\.\d+\.\d+\n$/);
});

t.test('an invalid command line is one sentence and exit code 2', async (t) => {
  await refused(t, [], /A command is required/);
  await refused(
    t,
    ['stat'],
    /^Unknown command "stat"\. Did you mean start\? The commands are start, exec, .*, verify, scenario\.$/m,
  );
  await refused(t, ['xyzzyx'], /^Unknown command "xyzzyx"\. The commands are start, exec, /);
  await refused(t, ['Start'], /^Unknown command "Start"\./);
  await refused(t, ['start', '--port', 'x'], /^--port must be a whole number/);
  await refused(t, ['start', '--port'], /^--port needs a value/);
  await refused(t, ['start', '--port', '--org'], /^--port needs a value/);
  await refused(t, ['start', '--nope', '1'], /^start has no flag --nope/);
  await refused(t, ['start', '-p', '1'], /^start has no flag -p/);
  await refused(t, ['start', 'now'], /^start takes only flags/);
  await refused(t, ['health', '--url', 'ftp://x'], /^--url must be an http or https address/);
  await refused(t, ['wait', '--timeout', '5'], /^--timeout must be a duration/);
});

t.test('start accepts every spelling of its flags', async (t) => {
  t.same(readFlags(['--port=0', '--org', 'a', '--org=b', '--seed', '-1']), {
    port: ['0'],
    org: ['a', 'b'],
    seed: ['-1'],
  });
});

t.test('switches of start take no value, and have an opposite', async (t) => {
  t.same(readFlags(['--test-keys']), { 'test-keys': ['true'] });
  t.same(readFlags(['--no-test-keys', '--port', '0']), { 'test-keys': ['false'], port: ['0'] });
});

t.test('health and wait exit 0 when an emulator answers, 3 when none does', async (t) => {
  let responses = ['{"emulator":true}'];
  const server = createServer((request, response) => {
    t.equal(request.url, '/_emulator/health');
    response.end(responses.length > 1 ? responses.shift() : responses[0]);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.match(await run(['health', '--url', url]), { code: 0, out: /is ready/ });
  t.match(await run(['wait', '--url', `${url}/`]), { code: 0, out: '', err: '' });
  responses = ['<html>', '{}', '{"emulator":true}'];
  t.match(await run(['wait', '--url', url]), { code: 0 }, 'asks again until it does');
  responses = ['<html>'];
  t.match(await run(['health', '--url', url]), { code: 3, err: /is not an emulator \(it answered 200\)/ });
  t.match(await run(['wait', '--url', url, '--timeout', '100ms']), { code: 3, err: /waited for 100 ms/ });
  responses = ['x'.repeat(100_000)];
  t.match(await run(['health', '--url', url]), { code: 3, err: /has more than 65536 characters/ });
  server.close();
  server.closeAllConnections();
  t.match(await run(['health', '--url', url]), { code: 3, err: /ECONNREFUSED/ });
});

t.test('the log has one line per request and no terminal control characters', async (t) => {
  const lines: string[] = [];
  const line = {
    event: 'request',
    at: '2026-01-01T12:34:56.000Z',
    status: 404,
    method: 'GET',
    path: '/a\u001b[2Jb',
    repository: 'x\u202ey\n',
    code: 'not_found',
    origin: 'injected:slow',
    why: ['no such file'],
  };
  createLog('pretty', (text) => lines.push(text)).write(line);
  createLog('json', (text) => lines.push(text)).write(line);
  createLog('quiet', (text) => lines.push(text)).write(line);
  createLog('pretty', (text) => lines.push(text)).write({ event: 'other', n: 1 });
  t.same(lines, [
    '12:34:56 404 GET /a\\u{1b}[2Jb repo=x\\u{202e}y\\u{a} injected:slow not_found: no such file\n',
    `${JSON.stringify(line)}\n`,
    '{"event":"other","n":1}\n',
  ]);
});

t.test('the ready file is written atomically', async (t) => {
  const folder = t.testdir({});
  await publishReady(join(folder, 'ready.json'), 'line\n');
  t.equal(readFileSync(join(folder, 'ready.json'), 'utf8'), 'line\n');
  t.same(readdirSync(folder), ['ready.json'], 'nothing else is left');
  await t.rejects(publishReady(join(folder, 'absent', 'ready.json'), 'x'), /ready file cannot be written/);
});

const entry = new URL('./main.js', import.meta.url).href;
const script = `process.exitCode = await (await import(${JSON.stringify(entry)})).main(process.argv.slice(1))`;

/**
 * Starts `emulator start` as a child process with the Node.js options of this test, so that it loads code in the same
 * way.
 */
function start(test: Test, ...argv: string[]): ChildProcess & { said: { out: string; err: string } } {
  const args = [...process.execArgv, '--input-type=module', '--eval', script, 'start', ...argv];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  test.teardown(() => child.kill('SIGKILL'));
  const said = { out: '', err: '' };
  child.stdout.on('data', (part) => {
    said.out += part;
  });
  child.stderr.on('data', (part) => {
    said.err += part;
  });
  return Object.assign(child, { said });
}

async function untilReady(child: ReturnType<typeof start>): Promise<Record<string, unknown>> {
  while (!child.said.out.includes('\n')) {
    await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${child.said.err}`);
  }
  return JSON.parse(child.said.out);
}

t.test('start prints its addresses, serves requests, and exits with 0 on SIGTERM', async (t) => {
  const file = join(t.testdir({ 'ready.json': 'stale' }), 'ready.json');
  const child = start(t, '--port', '0', '--org', 'demo', '--org', 'acme', '--log', 'json', '--ready-file', file);
  const ready = await untilReady(child);
  t.same(JSON.parse(readFileSync(file, 'utf8')), ready, 'the file says the same as standard output');
  const { base_url, git_host, key_file, pid } = ready as Record<string, string>;
  t.match(ready, {
    event: 'ready',
    git_url: base_url,
    org: 'demo',
    key_id: 'es256',
    admin_url: `${base_url}/_emulator`,
  });
  t.match(base_url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.equal(`http://${git_host}`, base_url);
  t.same(
    (ready.orgs as { org: string }[]).map(({ org }) => org),
    ['demo', 'acme'],
  );
  t.equal(pid, child.pid as never);
  t.ok(statSync(key_file!).isFile());
  t.equal(child.said.err, '');
  child.stdout!.destroy();
  child.stderr!.destroy();
  for (let times = 0; times < 3; times++) await fetch(`${base_url}/api/repos`).then((response) => response.text());
  t.match(await run(['health', '--url', base_url!]), { code: 0 }, 'whoever stops reading does not stop the service');
  child.kill('SIGTERM');
  t.same(await once(child, 'exit'), [0, null]);
});

t.test('SIGINT waits for running requests, and a second SIGINT does not', async (t) => {
  const child = start(t, '--port', '0', '--log', 'quiet');
  const { base_url } = (await untilReady(child)) as { base_url: string };
  const token = (await run(['token', '--repo', 'a', '--scopes', 'repo:write', '--clock', new Date().toISOString()]))
    .out;
  const { request } = await import('node:http');
  // Send an incomplete body, so that the request stays open.
  const running = request(`${base_url}/api/repos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token.trim()}`, 'content-length': '100' },
  });
  running.on('error', () => {});
  running.write('{');
  await new Promise((flushed) => setTimeout(flushed, 200));
  child.kill('SIGINT');
  await new Promise((passed) => setTimeout(passed, 300));
  t.equal(child.exitCode, null, 'still draining');
  child.kill('SIGINT');
  t.same(await once(child, 'exit'), [130, null]);
});

t.test('SIGTERM during a push and a clone lets both finish, and the process exits with 0', async (t) => {
  const child = start(t, '--port', '0', '--log', 'quiet');
  const { base_url } = (await untilReady(child)) as { base_url: string };
  const token = (await run(['token', '--repo', 'r', '--scopes', 'repo:write,git:read,git:write'])).out.trim();
  const { request } = await import('node:http');
  /** Begins a POST request without sending the whole body. Returns the request, and a promise for the response. */
  const open = (target: string, length: number, headers: Record<string, string> = {}) => {
    const type = target.replace('/r.git/', 'application/x-').concat('-request');
    const all = {
      authorization: `Bearer ${token}`,
      'content-type': type,
      'content-length': String(length),
      ...headers,
    };
    const sent = request(base_url + target, { method: 'POST', headers: all });
    return { sent, answer: once(sent, 'response').then(([response]) => response as IncomingMessage) };
  };
  const push = (branch: string) => {
    const blob: RawObject = { type: 'blob', body: randomBytes(6_000_000) };
    const tree: RawObject = {
      type: 'tree',
      body: Buffer.concat([Buffer.from('100644 f\0'), Buffer.from(oidOf(blob), 'hex')]),
    };
    const who = 'A <a@x> 1700000000 +0000';
    const commit: RawObject = {
      type: 'commit',
      body: Buffer.from(`tree ${oidOf(tree)}\nauthor ${who}\ncommitter ${who}\n\nm\n`),
    };
    const update = { ref: `refs/heads/${branch}`, old: '0'.repeat(40), new: oidOf(commit) };
    return { tip: oidOf(commit), body: pushBody([update], packOf([commit, tree, blob])) };
  };
  await fetch(`${base_url}/api/repos`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  const first = push('main');
  const { sent, answer } = open('/r.git/git-receive-pack', first.body.length);
  sent.end(first.body);
  t.match(await text(await answer), 'ok refs/heads/main');

  const wants = `0011command=fetch00010032want ${first.tip}\n0009done\n0000`;
  const fetching = open('/r.git/git-upload-pack', wants.length, { 'git-protocol': 'version=2' });
  fetching.sent.end(wants);
  const pack = await fetching.answer;
  const second = push('topic');
  const pushing = open('/r.git/git-receive-pack', second.body.length);
  await new Promise((flushed) => pushing.sent.write(second.body.subarray(0, 3_000_000), flushed));
  child.kill('SIGTERM');
  const refusal = async () =>
    fetch(base_url).then(
      () => undefined,
      ({ cause }) => cause.code,
    );
  while ((await refusal()) === undefined) await new Promise((passed) => setTimeout(passed, 20));
  t.equal(child.exitCode, null, 'no new connections, but the running requests');
  pushing.sent.end(second.body.subarray(3_000_000));
  t.match(await text(await pushing.answer), 'ok refs/heads/topic');
  t.ok((await buffer(pack)).length > 6_000_000, 'the pack is whole');
  t.equal(pack.complete, true);
  t.same(await once(child, 'exit'), [0, null]);
});

t.test('a port in use is one sentence and exit code 2', async (t) => {
  const taken = createTcpServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const file = join(t.testdir({ 'ready.json': 'of an earlier run' }), 'ready.json');
  const child = start(t, '--port', String(port), '--ready-file', file);
  t.same(await once(child, 'close'), [2, null]);
  const advice = 'Choose another one with --port, or let the system choose one with --port 0';
  t.equal(child.said.err, `Port ${port} is in use. ${advice}.\n`);
  t.equal(child.said.out, '');
  t.notOk(existsSync(file), 'nobody finds the ready file of an earlier run');
  taken.close();
});

t.test('the executables report an unsupported Node and a missing build', async (t) => {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, 'package.json'))) root = dirname(root);
  const folder = t.testdir({ 'package.json': '{"type":"module"}' });
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  for (const name of ['emulator', 'conformance']) {
    const file = join(folder, 'bin', `${name}.js`);
    t.equal(statSync(join(root, 'bin', `${name}.js`)).mode & 0o111, 0o111, `${name}.js is executable`);
    const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.18.3'}})`;
    for (const [argv, sentence] of [
      [[file], /^The .* has not been built: run `npm run build` in its checkout\.\n$/],
      [['--import', old, file], /^The .* needs Node 20\.19, 22\.12, 24 or newer; this is 20\.18\.3\.\n$/],
    ] as const) {
      const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: '' } });
      let err = '';
      child.stderr.on('data', (part) => {
        err += part;
      });
      t.same(await once(child, 'close'), [2, null]);
      t.match(err, sentence);
    }
  }
});
