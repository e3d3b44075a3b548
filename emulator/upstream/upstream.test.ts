import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { bytesOf } from '../git/object/bytes.js';
import { parseOid, ZERO_OID } from '../git/object/object.js';
import { Refs } from '../git/refs/refs.js';
import { createRepository } from '../git/test/memory-repository.js';
import { Outbound } from '../http/outbound.js';
import type { BaseRepository } from '../repositories/repository.js';
import { DELIM, FLUSH, packet } from '../smart-http/pkt-line.js';
import { openUpstream, type Remote, UpstreamError } from './fetch-client.js';
import { chooseHaves, planUpdates } from './mirror.js';
import { isBareHost, isPath, upstreamUrl } from './provider.js';

const A = parseOid('a'.repeat(40));
const B = parseOid('b'.repeat(40));

function base(provider: string, changes: Partial<BaseRepository> = {}): BaseRepository {
  return { provider, owner: 'acme', name: 'app', access: 'credential', runs: 0, ...changes };
}

t.test('every provider has its address, unless it is mapped to another', async (t) => {
  const rows: [BaseRepository, string][] = [
    [base('github'), 'https://github.com/acme/app.git'],
    [base('gitlab', { owner: 'a/b c' }), 'https://gitlab.com/a/b%20c/app.git'],
    [base('gitlab', { host: 'git.example:8443' }), 'https://git.example:8443/acme/app.git'],
    [base('gitea', { host: '127.0.0.1:3000' }), 'http://127.0.0.1:3000/acme/app.git'],
    [base('forgejo', { host: 'localhost' }), 'http://localhost/acme/app.git'],
    [base('forgejo', { host: 'localhost.example' }), 'https://localhost.example/acme/app.git'],
    [base('sr.ht', { owner: '~acme' }), 'https://git.sr.ht/~acme/app'],
    [base('sourcehut'), 'https://git.sr.ht/~acme/app'],
    [base('bitbucket'), 'https://bitbucket.org/acme/app.git'],
    [base('codeberg', { name: 'a#b?c' }), 'https://codeberg.org/acme/a%23b%3Fc.git'],
  ];
  for (const [repository, url] of rows) t.equal(upstreamUrl(repository, {}).href, url);
  const origins = { github: 'http://127.0.0.1:3000/git/', sourcehut: 'http://user:pass@127.0.0.1:1' };
  t.equal(upstreamUrl(base('github'), origins).href, 'http://127.0.0.1:3000/git/acme/app.git');
  t.equal(upstreamUrl(base('sr.ht'), origins).href, 'http://user:pass@127.0.0.1:1/~acme/app');
});

t.test('upstream hosts have no path, and repository names cannot change the URL', async (t) => {
  for (const host of ['git.example', 'git.example:80', '127.0.0.1', '[::1]:3000', 'a'])
    t.ok(isBareHost(host), JSON.stringify(host));
  for (const host of ['', 'http://a', 'a/b', 'a@b', 'a:b', 'a:99999', '-a', 'a b', '[::1', 'a\nb'])
    t.notOk(isBareHost(host), JSON.stringify(host));
  for (const path of ['a', 'a/b', '.github', '~a']) t.ok(isPath(path), JSON.stringify(path));
  for (const path of ['', '.', '..', 'a/../b', '/a', 'a/', 'a//b', 'a\\b', 'a b', 'a\0', '\ud800'])
    t.notOk(isPath(path), JSON.stringify(path));
});

t.test('a mirror removes what is gone, moves what moved, and leaves other refs alone', async (t) => {
  const refs = Refs.empty(bytesOf('main')).with(
    [
      [bytesOf('refs/heads/same'), A],
      [bytesOf('refs/heads/moved'), A],
      [bytesOf('refs/heads/gone'), A],
      [bytesOf('refs/tags/gone'), A],
      [bytesOf('refs/notes/commits'), A],
      [bytesOf('refs/namespaces/ephemeral/refs/heads/e'), A],
    ],
    0,
  );
  const updates = planUpdates(refs, [
    { name: bytesOf('refs/heads/same'), oid: A },
    { name: bytesOf('refs/heads/moved'), oid: B },
    { name: bytesOf('refs/tags/new'), oid: B },
  ]);
  t.same(updates, [
    { name: 'refs/heads/gone', old: A, new: ZERO_OID },
    { name: 'refs/tags/gone', old: A, new: ZERO_OID },
    { name: 'refs/heads/moved', old: A, new: B },
    { name: 'refs/tags/new', old: ZERO_OID, new: B },
  ]);
  t.same(chooseHaves(createRepository()), [], 'nothing to offer');
});

const VERSION_2 = [
  packet(bytesOf('version 2\n')),
  packet(bytesOf('ls-refs\n')),
  packet(bytesOf('fetch=shallow\n')),
  FLUSH,
];

interface Script {
  readonly status?: number;
  readonly body?: Buffer[];
}

/**
 * Starts a server that responds to each request with the next part of `script`. Later requests get no response. Returns
 * the server as a remote, and the bodies of the received requests.
 */
async function remoteWith(t: Test, ...script: Script[]): Promise<{ remote: Remote; bodies: string[] }> {
  const bodies: string[] = [];
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      bodies.push(Buffer.concat(pieces).toString('latin1'));
      const part = script.shift();
      if (part) response.writeHead(part.status ?? 200).end(Buffer.concat(part.body ?? []));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const outbound = new Outbound();
  t.teardown(async () => {
    await outbound.close();
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/acme/app.git`);
  return { remote: { url, outbound, signal: new AbortController().signal, timeout: 200 }, bodies };
}

async function failureOf(work: Promise<unknown>): Promise<UpstreamError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof UpstreamError) return error;
  throw new Error(`it ended with ${error}`);
}

t.test('an upstream that is not a Git server is reported', async (t) => {
  const rows: [string, Script[], RegExp, boolean][] = [
    ['version 1', [{ body: [packet(bytesOf(`${A} HEAD\0agent=git\n`)), FLUSH] }], /does not support version 2/, false],
    [
      'no pkt-lines',
      [{ body: [Buffer.from('<html>')] }],
      /violates the Git protocol: .*bad line length character/,
      false,
    ],
    ['half a line', [{ body: [Buffer.from('00ffversion')] }], /hung up/, false],
    [
      'another hash',
      [{ body: [packet(bytesOf('version 2\n')), packet(bytesOf('object-format=sha256\n')), FLUSH] }],
      /object format sha256/,
      false,
    ],
    ['404', [{ status: 404 }], /returned status 404/, false],
    ['503', [{ status: 503 }], /returned status 503/, true],
    ['silence', [], /cannot be reached \(UND_ERR_HEADERS_TIMEOUT\)/, true],
  ];
  for (const [title, script, message, isTransient] of rows) {
    const { remote } = await remoteWith(t, ...script);
    const error = await failureOf(openUpstream(remote));
    t.match(error.message, message, title);
    t.equal(error.isTransient, isTransient, title);
  }
});

t.test('a malformed list of refs is refused', async (t) => {
  const lines = [
    `${A} refs/heads/main\n`,
    `${B} refs/heads/a..b\n`,
    `${B} refs/pull/1/head\n`,
    `${B} refs/tags/v peeled:${A}\n`,
  ];
  const { remote, bodies } = await remoteWith(
    t,
    { body: VERSION_2 },
    { body: [...lines.map((line) => packet(bytesOf(line))), FLUSH] },
  );
  const session = await openUpstream(remote);
  t.same(
    await session.listRefs(['refs/heads/', 'refs/tags/'].map(bytesOf)),
    [
      { name: 'refs/heads/main', oid: A },
      { name: 'refs/tags/v', oid: B },
    ],
    'what was not asked for and what is no name is left out',
  );
  t.equal(
    bodies[1],
    `${packet(bytesOf('command=ls-refs\n'))}${packet(bytesOf('agent=git/repohost-emulator\n'))}${DELIM}` +
      `${packet(bytesOf('ref-prefix refs/heads/\n'))}${packet(bytesOf('ref-prefix refs/tags/\n'))}${FLUSH}`,
  );
  for (const [body, message] of [
    [[packet(bytesOf('ERR no such repository\n'))], /The upstream reports: no such repository/],
    [[packet(bytesOf('xyz refs/heads/main\n')), FLUSH], /malformed/],
    [[packet(bytesOf(`${A} refs/heads/main\n`))], /is truncated/],
    [[packet(bytesOf(`${A} refs/heads/main\n`)), DELIM], /is truncated/],
  ] as const) {
    const { remote: other } = await remoteWith(t, { body: VERSION_2 }, { body: [...body] });
    const opened = await openUpstream(other);
    t.match((await failureOf(opened.listRefs([bytesOf('refs/heads/')]))).message, message);
  }
});

t.test('a pack is read from side-band packets', async (t) => {
  const fetch = async (...body: Buffer[]) => {
    const { remote } = await remoteWith(t, { body: VERSION_2 }, { body });
    const pieces: Buffer[] = [];
    const session = await openUpstream(remote);
    for await (const piece of session.fetch({ wants: [A], haves: [B] })) pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces).toString();
  };
  const parts = [
    packet(bytesOf('packfile\n')),
    packet(bytesOf('\x02Counting\n')),
    packet(bytesOf('\x01PA')),
    packet(bytesOf('\x01CK')),
  ];
  t.equal(
    await fetch(packet(bytesOf('shallow-info\n')), packet(bytesOf(`shallow ${A}\n`)), DELIM, ...parts, FLUSH),
    'PACK',
  );
  t.match((await failureOf(fetch(...parts))).message, /the pack is truncated/);
  t.match(
    (await failureOf(fetch(...parts, packet(bytesOf('\x03out of memory\n')), FLUSH))).message,
    /reports: out of memory/,
  );
  t.match((await failureOf(fetch(packet(bytesOf('ERR not our ref\n'))))).message, /reports: not our ref/);
  t.match((await failureOf(fetch(FLUSH))).message, /contains no pack/);
});

t.test('only loopback and allowed hosts are reached', async (t) => {
  const outbound = new Outbound(['Git.Example']);
  const reached = [
    'http://127.0.0.1/',
    'http://127.9.9.9:1/',
    'http://[::1]/',
    'http://localhost/',
    'https://git.example/',
  ];
  const refused = [
    'http://10.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://a.localhost/',
    'http://git.example.org/',
    'http://0.0.0.0/',
  ];
  for (const url of reached) t.ok(outbound.mayReach(new URL(url)), url);
  for (const url of refused) t.notOk(outbound.mayReach(new URL(url)), url);
  const signal = new AbortController().signal;
  await t.rejects(outbound.request(new URL('http://10.0.0.1/'), { method: 'GET', headers: {}, signal, timeout: 1 }));
});
