import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { startEmulator } from '../../index.js';
import { API, AUTHORIZATION, exec, HOSTS } from '../test/hosts.js';

/** Node.js script that commits, pushes, clones and reads with isomorphic-git, a Git client in JavaScript. */
const ISOMORPHIC = `
import fs from 'node:fs';
const [git, http] = (await Promise.all([import('ISOMORPHIC'), import('ISOMORPHIC_HTTP')])).map((module) => module.default);
const onAuth = () => ({ username: 't', password: process.env.EMULATOR_TOKEN });
const [dir, copy, url] = ['work', 'copy', 'https://git.example.test/team/app.git'];
const author = { name: 'A', email: 'a@example.com' };
await git.init({ fs, dir, defaultBranch: 'main' });
fs.writeFileSync(dir + '/a.txt', 'hello');
await git.add({ fs, dir, filepath: 'a.txt' });
await git.commit({ fs, dir, message: 'First', author });
const { ok, refs } = await git.push({ fs, http, dir, url, ref: 'main', onAuth });
await git.clone({ fs, http, dir: copy, url, onAuth });
const [{ commit }] = await git.log({ fs, dir: copy });
console.log(ok, Object.keys(refs).join(), commit.message.trim(), fs.readFileSync(copy + '/a.txt', 'utf8'));
await git.clone({ fs, http, dir: 'none', url }).catch((error) => console.log(error.code, error.data.statusCode));
`;

t.test('isomorphic-git pushes and clones by a built-in host name', async (t) => {
  const script = ISOMORPHIC.replaceAll(/ISOMORPHIC(_HTTP)?/g, (_, http) =>
    import.meta.resolve(http ? 'isomorphic-git/http/node' : 'isomorphic-git'),
  );
  const folder = t.testdir({ 'client.mjs': script });
  const { code, out, err } = await exec(
    t,
    `cd '${folder}'
     curl -sS -o created -X POST ${AUTHORIZATION} ${API}/api/repos
     '${process.execPath}' client.mjs`,
  );
  t.same([code, err], [0, '']);
  t.equal(out, 'true refs/heads/main First hello\nHttpError 401\n');
});

t.test('other hosts are reached directly, or through the proxy of the environment', async (t) => {
  await using far = await startEmulator({ port: 0, tls: true, allowedHost: ['far.example.org'] });
  const { port } = new URL(far.https!.baseUrl);
  const asked: string[] = [];
  const outer = createServer((_, response) => response.writeHead(404).end());
  outer.on('connect', (request, socket: Socket, head) => {
    asked.push(`${request.url} ${Buffer.from(request.headers['proxy-authorization']!.slice(6), 'base64')}`);
    if (!asked.at(-1)!.endsWith(' us@er:p:ss')) return socket.end('HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n');
    const onward = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    return socket.on('error', () => onward.destroy());
  });
  await new Promise<void>((resolve) => outer.listen(0, '127.0.0.1', resolve));
  t.teardown(() => outer.close());
  const file = join(t.testdir({ pem: far.ca! }), 'pem');
  const address = `127.0.0.1:${(outer.address() as AddressInfo).port}`;
  const run = async (script: string, variables: Record<string, string>) => {
    const before = { ...process.env };
    Object.assign(process.env, { SSL_CERT_FILE: file, ...variables });
    const passed = ['localhost', 'far.example.org', 'near.example.org'].flatMap((host) => ['--proxy-pass', host]);
    const result = exec(t, script, [...HOSTS, ...passed]);
    process.env = before;
    return result;
  };
  const curl = 'curl -sS -o /dev/null -w "%{http_code} %{http_connect}\\n"';
  const direct = await run(`${curl} --noproxy x https://localhost:${port}/_emulator/health`, { https_proxy: '' });
  t.same(direct, { code: 0, out: '200 200\n', err: '' });
  const through = await run(
    `${curl} https://far.example.org/_emulator/health
     '${process.execPath}' -e 'fetch("https://far.example.org/_emulator/health").then((r) => console.log(r.status))'
     ${curl} ${API}/_emulator/health
     ${curl} --noproxy x https://near.example.org/ || ${curl} https://other.example.org/ || echo $no_proxy`,
    { HTTPS_PROXY: `http://us%40er:p%3Ass@${address}`, no_proxy: 'near.example.org:443' },
  );
  t.match(through, { code: 0, out: /^200 200\n200\n200 200\n000 502\n000 403\nnear\.example\.org:443,localhost,/ });
  t.same(asked.splice(0), ['far.example.org:443 us@er:p:ss', 'far.example.org:443 us@er:p:ss']);
  const refused = await run('curl -sS https://far.example.org/ || env | grep secret', {
    https_proxy: `us:secret@${address}`,
  });
  t.match(refused, { code: 1, out: '', err: /502/ });
  t.same(asked, ['far.example.org:443 us:secret']);
  const { code, err } = await run('true', { https_proxy: 'socks5://us:secret@127.0.0.1' });
  t.same(
    [code, err],
    [2, 'https_proxy must be an http or https address, because connections to other hosts go through that proxy.\n'],
  );
});
