import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import t from 'tap';
import { operations } from '../../api/index.js';
import { run } from '../../cli/test/run.js';
import { resolveOptions } from '../../config/options.js';
import { type Emulator, startEmulator } from '../../index.js';
import { startServer } from '../../server/server.js';
import { createTls } from '../../tls/tls-service.js';

// needs: git

const execute = promisify(execFile);

/** Sends one HTTPS request to an emulator on this machine. The client trusts the certificate `ca`. */
function ask(url: string, ca: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { hostname, host, port, pathname } = new URL(url);
    const to = { host: '127.0.0.1', port, path: pathname, ...(isIP(hostname) === 0 && { servername: hostname }) };
    const options = { ...to, ca, headers: { host, ...headers }, method, agent: false };
    const question = https.request(options, async (response) => {
      let text = '';
      for await (const part of response) text += part;
      resolve({ status: response.statusCode!, text });
    });
    question.on('error', reject).end();
  });
}

const emulator = await startEmulator({ port: 0, tls: true, org: ['demo', 'acme'] });
t.teardown(() => emulator.close({ graceMs: 0 }));
const ca = emulator.ca!;
const secure = emulator.https!;

t.test('HTTPS is served in addition to HTTP, and responses have URLs of the same scheme', async (t) => {
  const authorization = `Bearer ${await emulator.token({ repo: 'a', scopes: ['repo:write', 'git:write', 'git:read'] })}`;
  const made = await ask(`${secure.baseUrl}/api/repos`, ca, { authorization }, 'POST');
  t.equal(JSON.parse(made.text).http_url, `${secure.gitUrl}/a.git`);
  t.equal((await fetch(`${emulator.baseUrl}/_emulator/health`)).status, 200);
  t.match(emulator.orgs[1], { org: 'acme', https: { baseUrl: /^https:/ } });
  const { port } = new URL(secure.baseUrl);
  for (const name of ['localhost', 'api.acme.localhost']) {
    const { text } = await ask(`https://${name}:${port}/_emulator/health`, ca);
    t.equal(JSON.parse(text).organization, name.startsWith('api') ? 'acme' : 'demo');
  }
});

t.test('a client that does not trust the certificate, or does not use TLS, gets no response', async (t) => {
  const { trust } = await createTls(['localhost']);
  await t.rejects(ask(`${secure.baseUrl}/_emulator/health`, trust), { code: /CERT|SIGNATURE/ });
  await t.rejects(fetch(secure.baseUrl.replace('https', 'http')));
  await t.rejects(ask(`https://other.localhost:${new URL(secure.baseUrl).port}/`, ca), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
});

t.test('emulator ca prints the CA certificate; without TLS it fails', async (t) => {
  t.match(await run(['ca', '--url', emulator.baseUrl]), { code: 0, out: ca, err: '' });
  t.same(JSON.parse((await run(['ca', '--json', '--url', emulator.baseUrl])).out), { certificate: ca });
  t.notMatch(ca, /PRIVATE/);
  await using plain = await startEmulator({ port: 0 });
  t.match(await run(['ca', '--url', plain.baseUrl]), {
    code: 2,
    out: '',
    err: /The emulator does not serve HTTPS\. Start it with --tls/,
  });
  t.equal(plain.https, undefined);
});

t.test('Git pushes, clones and fetches by HTTPS', async (t) => {
  const folder = t.testdir({ 'ca.pem': ca });
  const token = await emulator.token({ repo: 'git', scopes: ['repo:write', 'git:write', 'git:read'] });
  await ask(`${secure.baseUrl}/api/repos`, ca, { authorization: `Bearer ${token}` }, 'POST');
  const env = { ...process.env, GIT_SSL_CAINFO: join(folder, 'ca.pem'), GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) => execute('git', args, { cwd: folder, env });
  const remote = `${secure.gitUrl.replace('://', `://t:${token}@`)}/git.git`;
  await git('init', '-q', 'work');
  writeFileSync(join(folder, 'work', 'big'), Buffer.alloc(4_000_000, 'a line of text that is not the same\n'));
  await git('-C', 'work', 'add', '.');
  await git('-C', 'work', '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'one');
  await git('-C', 'work', '-c', 'http.postBuffer=65536', '-c', 'core.compression=0', 'push', '-q', remote, 'HEAD:main');
  await git('clone', '-q', remote, 'copy');
  t.equal((await git('-C', 'copy', 'log', '--format=%s')).stdout, 'one\n');
});

t.test('half-close, reset and shutdown work as over HTTP', async (t) => {
  const own = await startEmulator({ port: 0, tls: true });
  const { port } = new URL(own.https!.baseUrl);
  const open = () => connect({ port: Number(port), host: '127.0.0.1', servername: 'localhost', ca: own.ca! });
  const read = (socket: TLSSocket) =>
    new Promise<string>((resolve) => {
      let said = '';
      socket.on('data', (part) => {
        said += part;
      });
      socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code!)).on('end', () => resolve(said));
    });
  const half = open();
  half.end('GET /_emulator/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  t.match(await read(half), /^HTTP\/1\.1 200 /);
  const token = await own.token({ repo: 'a', scopes: ['org:read'] });
  const reset = open();
  reset.write(
    `GET /api/repos HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nX-Emulator-Fault: lost;how=rst\r\n\r\n`,
  );
  t.equal(await read(reset), 'ECONNRESET');
  const idle = open();
  await new Promise((resolve) => idle.once('secureConnect', resolve));
  const silent = (await import('node:net')).connect(Number(port), '127.0.0.1');
  await new Promise((resolve) => silent.once('connect', resolve));
  const gone = Promise.all(
    [idle, silent].map(
      (socket) =>
        new Promise((resolve) =>
          socket
            .on('error', () => {})
            .once('close', resolve)
            .resume(),
        ),
    ),
  );
  idle.on('end', () => idle.end());
  await own.close({ graceMs: 2 ** 31 - 1 });
  await gone;
});

t.test('a given certificate is used, and must fit its key', async (t) => {
  const { identity, trust } = await createTls(['localhost', '127.0.0.1']);
  const other = await createTls(['localhost']);
  const folder = t.testdir({ cert: identity.cert, key: identity.key, other: other.identity.key, none: 'x' });
  const [cert, key] = [join(folder, 'cert'), join(folder, 'key')];
  await using given = await startEmulator({ port: 0, tls: true, tlsCert: cert, tlsKey: key });
  t.equal((await ask(`${given.https!.baseUrl}/_emulator/health`, trust)).status, 200);
  t.equal(given.ca, identity.cert);
  for (const [flags, sentence] of [
    [['--tls', '--tls-cert', cert], /^--tls-cert requires --tls-key/],
    [['--tls', '--tls-key', key], /^--tls-key requires --tls-cert/],
    [['--tls-cert', cert, '--tls-key', key], /require --tls\./],
    [['--tls-port', '1'], /^--tls-port requires --tls/],
    [['--tls', '--tls-cert', cert, '--tls-key', join(folder, 'other')], /does not match the certificate/],
    [
      ['--tls', '--tls-cert', join(folder, 'none'), '--tls-key', key],
      /^--tls-cert must name a file with a certificate in PEM, but/,
    ],
    [['--tls', '--tls-cert', join(folder, 'absent'), '--tls-key', key], /^--tls-cert cannot be read/],
  ] as const) {
    const { code, err } = await run(['start', '--port', '0', ...flags]);
    t.equal(code, 2);
    t.match(err, sentence);
  }
});

t.test('responses contain the public address, also for remotes', async (t) => {
  const options = {
    port: 0,
    publicUrl: 'https://api.demo.example.test/',
    publicGitUrl: 'https://git.example.test:8443',
  };
  await using own = await startEmulator(options);
  t.match(own, {
    baseUrl: 'https://api.demo.example.test',
    gitHost: 'git.example.test:8443',
    adminUrl: 'https://api.demo.example.test/_emulator',
  });
  await using world = await own.namespace();
  t.match(world.baseUrl, /^http:\/\/127\.0\.0\.1:\d+$/, 'a namespace is reached at its own port');
});

/**
 * Returns all URLs in the responses to two kinds of requests: they create a repository, and ask for the upload of large
 * files. `host` is the value of their `Host` header.
 */
async function urlsIn({ baseUrl, token }: Pick<Emulator, 'baseUrl' | 'token'>, host: string, org = 'demo') {
  const { port } = new URL(baseUrl);
  const ask = async (repo: string, path: string, body: object, type = 'application/json') => {
    const authorization = `Bearer ${await token({ repo, org, scopes: ['repo:write', 'git:write', 'git:read'] })}`;
    const headers = { host, authorization, 'content-type': type, accept: type };
    const question = request({ host: '127.0.0.1', port, method: 'POST', path, headers, agent: false });
    question.end(JSON.stringify(body));
    const [response] = (await once(question, 'response')) as [IncomingMessage];
    const text = (await response.setEncoding('utf8').toArray()).join('');
    t.ok(response.statusCode! < 300, `${path} ${text}`);
    return { text, header: String(response.headers.location ?? '') };
  };
  const lfs = 'application/vnd.git-lfs+json';
  const objects = [{ oid: 'a'.repeat(64), size: 1 }];
  const responses = [
    await ask('a b', '/api/repos', {}),
    await ask('a b', '/a%20b.git/info/lfs/objects/batch', { operation: 'upload', transfers: ['basic'], objects }, lfs),
    await ask('a b', '/a%20b+ephemeral.git/info/lfs/objects/batch', { operation: 'upload', objects }, lfs),
  ];
  return responses.flatMap(({ text, header }) => `${text} ${header}`.match(/https?:[^"\s]+/g) ?? []);
}

t.test('every URL in a response has the public address, whatever the address of the request', async (t) => {
  const publicUrl = 'https://api.demo.example.test';
  const oid = 'a'.repeat(64);
  const expected = (origin: string) => [
    `${origin}/a%20b.git`,
    `${origin}/a%20b.git/info/lfs/objects/${oid}?size=1`,
    `${origin}/a%20b.git/info/lfs/objects/verify`,
    `${origin}/a%20b+ephemeral.git/info/lfs/objects/${oid}?size=1`,
    `${origin}/a%20b+ephemeral.git/info/lfs/objects/verify`,
  ];
  for (const options of [{ publicUrl }, { publicUrl, publicGitUrl: 'https://git.example.test:8443' }]) {
    for (const host of ['api.demo.example.test', '127.0.0.1', 'localhost:1']) {
      await using own = await startEmulator({ port: 0, ...options });
      const local = { baseUrl: own.localUrl!, token: own.token };
      t.same(await urlsIn(local, host), expected(options.publicGitUrl ?? publicUrl), host);
    }
  }
  await using two = await startEmulator({ port: 0, org: ['demo', 'acme'] });
  const host = `api.acme.localhost:${new URL(two.baseUrl).port}`;
  t.same(await urlsIn(two, host, 'acme'), expected(`http://${host}`), 'the host of an organization leads to it');
  await using mapped = await startEmulator({ port: 0 });
  const [created, ...lfs] = await urlsIn(mapped, 'localhost:4711');
  t.equal(created, `${mapped.gitUrl}/a%20b.git`);
  t.same(lfs, expected('http://localhost:4711').slice(1));
});

t.test('a certificate is renewed while the emulator runs, by the authority that clients trust', async (t) => {
  const day = 24 * 3600 * 1000;
  let now = Date.now() - 1.2 * day;
  const looks = new Set<() => void>();
  const machineTime = {
    now: () => now,
    every: (_: number, look: () => void) => {
      looks.add(look);
      return () => looks.delete(look);
    },
  };
  let builtIn = 0;
  const hosts = { api: ['api.example.test'], git: [], onListening: (port: number) => (builtIn = port) };
  const options = resolveOptions({ port: 0, tls: true, org: ['demo', 'acme'] });
  const server = await startServer(options, operations, { hosts, machineTime });
  t.teardown(() => server.close({ graceMs: 0 }));
  const trust = server.trust!;
  const world = await server.namespaces.create();
  const ports = [...server.listeners, ...world.listeners.all].map(({ secure }) => secure!.port);
  const serial = (port: number, servername = 'localhost') =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', servername, ca: trust }, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      }).on('error', reject);
    });
  const look = async () => {
    for (const each of looks) each();
    // Wait for the new certificate. Its key is generated outside the event loop.
    const deadline = Date.now() + 20_000;
    const before = server.listeners[0].secure!.port;
    while (Date.now() < deadline && (await serial(before).catch(() => '')) === '') await pause(10);
  };
  t.equal(looks.size, 1);
  for (const each of looks) each();
  for (const port of ports) await t.rejects(serial(port), { code: 'CERT_HAS_EXPIRED' });
  now = Date.now();
  await look();
  const shown = new Set(await Promise.all([...ports.map((port) => serial(port)), serial(builtIn, 'api.example.test')]));
  t.equal(shown.size, 1, 'every port shows it');
  const later = await server.namespaces.create();
  t.ok(shown.has(await serial(later.listeners.all[0]!.secure!.port)), 'one that is opened later too');
  for (const each of looks) each();
  await new Promise(setImmediate);
  t.ok(shown.has(await serial(ports[0]!)), 'one that is good for long stays');
  await server.close({ graceMs: 0 });
  t.equal(looks.size, 0, 'nothing looks any more');
});
