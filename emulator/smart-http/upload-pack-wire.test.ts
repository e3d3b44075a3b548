import { gzipSync } from 'node:zlib';
import t from 'tap';
import { bytesOf } from '../git/object/bytes.js';
import { packet } from './pkt-line.js';
import type { TestServer } from './test/test-server.js';
import { stage } from './test/test-stage.js';

async function ask(server: TestServer, body: Buffer | string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url()}/git-upload-pack`, {
    method: 'POST',
    body: new Uint8Array(Buffer.from(body as string)),
    headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2', ...headers },
  });
}

const askText = async (...request: Parameters<typeof ask>) =>
  Buffer.from(await (await ask(...request)).arrayBuffer()).toString('latin1');

/**
 * Returns the body of a Git protocol v2 request with these lines as pkt-lines. `|` stands for a delimiter packet. The
 * body ends with a flush packet.
 */
const command = (...lines: string[]) =>
  `${lines.map((line) => (line === '|' ? '0001' : packet(bytesOf(`${line}\n`)).toString())).join('')}0000`;

t.test('headers are those git http-backend sends', async (t) => {
  await using s = await stage();
  const { server } = s;
  for (const service of ['git-upload-pack', 'git-receive-pack']) {
    const { status, headers } = await fetch(`${server.url()}/info/refs?service=${service}`);
    t.equal(status, 200);
    t.equal(headers.get('content-type'), `application/x-${service}-advertisement`);
    t.equal(headers.get('cache-control'), 'no-cache, max-age=0, must-revalidate');
    t.equal(headers.get('expires'), 'Fri, 01 Jan 1980 00:00:00 GMT');
    t.equal(headers.get('pragma'), 'no-cache');
  }
  const response = await ask(server, command('command=ls-refs', '|'));
  t.equal(response.headers.get('content-type'), 'application/x-git-upload-pack-result');
  t.equal(response.headers.get('cache-control'), 'no-cache, max-age=0, must-revalidate');
  const wrong = await ask(server, '0000', { 'content-type': 'application/x-git-receive-pack-request' });
  t.equal(wrong.status, 415);
  t.match(
    await wrong.text(),
    /^Expected POST with Content-Type 'application\/x-git-upload-pack-request', but received/,
  );
});

t.test('advertisements are worded as documented', async (t) => {
  await using s = await stage();
  const { server, bench } = s;
  const refs = async (service: string, version: string) =>
    (
      await fetch(`${server.url()}/info/refs?service=${service}`, { headers: { 'git-protocol': `version=${version}` } })
    ).text();
  const main = await bench.git('work', 'rev-parse', 'main');
  const v2 = await refs('git-upload-pack', '2');
  t.match(v2, /^000eversion 2\n[0-9a-f]{4}agent=git\/test\n/);
  t.match(v2, 'ls-refs=unborn\n');
  t.match(v2, 'fetch=shallow wait-for-done filter ref-in-want\n');
  t.match(v2, /session-id=session-\d+\n0000$/);
  const v1 = await refs('git-upload-pack', '1');
  t.match(v1, `001e# service=git-upload-pack\n0000000eversion 1\n`);
  const v0 = await refs('git-upload-pack', '0');
  t.match(
    v0,
    new RegExp(
      `^001e# service=git-upload-pack\\n0000[0-9a-f]{4}${main} HEAD\\0multi_ack .* symref=HEAD:refs/heads/main `,
    ),
  );
  t.match(v0, /refs\/tags\/v10\^\{\}\n/);
  const push = await refs('git-receive-pack', '2');
  t.match(
    push,
    /^001f# service=git-receive-pack\n0000[0-9a-f]{4}[0-9a-f]{40} refs\/heads\/main\0report-status report-status-v2 /,
  );
  t.notMatch(push, /\^\{\}|HEAD/);
});

t.test('ls-refs shows the requested refs and attributes', async (t) => {
  await using s = await stage();
  const { server, bench } = s;
  const oid = (revision: string) => bench.git('work', 'rev-parse', revision);
  const list = async (...lines: string[]) =>
    [...(await askText(server, command('command=ls-refs', '|', ...lines))).matchAll(/[0-9a-f]{4}(.*)\n/g)].map(
      (match) => match[1],
    );
  t.same(await list('ref-prefix HEAD', 'symrefs'), [`${await oid('main')} HEAD symref-target:refs/heads/main`]);
  t.same(await list('peel', 'ref-prefix refs/tags/v1'), [
    `${await oid('v10')} refs/tags/v10 peeled:${await oid('v10^{}')}`,
  ]);
  t.same(
    await list('ref-prefix refs/heads/s', 'ref-prefix refs/heads/side', 'ref-prefix refs/heads/', 'ref-prefix x'),
    [`${await oid('main')} refs/heads/main`, `${await oid('side')} refs/heads/side`],
  );
  t.equal((await list('peel')).length, 1 + 2 + 4 + 2);
  t.match(await askText(server, command('command=ls-refs', '|', 'nonsense')), /ERR unexpected line: 'nonsense'/);
});

t.test('the other commands of version 2', async (t) => {
  await using s = await stage();
  const { server, bench } = s;
  const oid = (revision: string) => bench.git('work', 'rev-parse', revision);
  const [main, blob] = [await oid('main'), await oid('main:folder-1/deep/file-1.txt')];
  const size = await bench.git('work', 'cat-file', '-s', blob);
  t.equal(
    await askText(server, command('command=object-info', '|', 'size', `oid ${blob}`, `oid ${'1'.repeat(40)}`)),
    `0009size\n${packet(bytesOf(`${blob} ${size}\n`))}${packet(bytesOf(`${'1'.repeat(40)} \n`))}0000`,
  );
  const fetch = (...lines: string[]) =>
    askText(server, command('command=fetch', 'agent=test', 'server-option=x', 'object-format=sha1', '|', ...lines));
  t.equal(await fetch(`want ${main}`, `have ${'1'.repeat(40)}`), `0014acknowledgments\n0008NAK\n0000`);
  const ready = await fetch(`want ${main}`, `have ${await oid('main~3')}`, 'no-progress');
  t.ok(
    ready.startsWith(
      `0014acknowledgments\n${packet(bytesOf(`ACK ${await oid('main~3')}\n`))}000aready\n0001000dpackfile\n`,
    ),
  );
  t.match(ready, /PACK[\s\S]*0000$/);
  const waits = await fetch(`want ${main}`, `have ${await oid('main~3')}`, 'wait-for-done');
  t.equal(waits, `0014acknowledgments\n${packet(bytesOf(`ACK ${await oid('main~3')}\n`))}0000`);
  const wanted = await fetch('want-ref refs/heads/side', 'done', 'no-progress', 'deepen 1');
  t.ok(
    wanted.startsWith(
      `0011shallow-info\n${packet(bytesOf(`shallow ${await oid('side')}`))}00010010wanted-refs\n${packet(bytesOf(`${await oid('side')} refs/heads/side\n`))}0001000dpackfile\n`,
    ),
  );
  t.equal(await fetch('done'), '', 'nothing wanted');
  t.match(await fetch('want-ref refs/heads/none'), /ERR unknown ref refs\/heads\/none/);
  t.match(await fetch('want-ref refs/heads/side', 'want-ref refs/heads/side'), /ERR duplicate want-ref/);
  t.match(await fetch(`want ${main}`, 'filter blob:nonsense', 'done'), /ERR invalid filter-spec 'blob:nonsense'/);
  t.match(await fetch(`want ${main}`, 'deepen 1', 'deepen-since 5', 'done'), /ERR .*cannot be used together/);
  t.match(
    await fetch(`want ${main}`, 'deepen-not nowhere', 'done'),
    /ERR upload-pack: deepen-not is not a ref: nowhere/,
  );
  t.match(await fetch(`want ${main}`, 'deepen 0', 'done'), /ERR Invalid deepen/);
  t.match(await fetch(`want main`), /ERR protocol error, expected to get object ID/);
});

t.test('malformed requests get an error', async (t) => {
  await using s = await stage({ limits: { lines: 500, fetchBytes: 100_000 } });
  const { server } = s;
  t.equal(await askText(server, '0000'), '');
  t.equal(await askText(server, ''), '');
  t.match(await askText(server, command('command=nonsense', '|')), /ERR invalid command 'nonsense'/);
  t.match(
    await askText(server, command('command=fetch', 'command=ls-refs', '|')),
    /ERR command 'ls-refs' requested after/,
  );
  t.match(await askText(server, command('agent=x')), /ERR no command requested/);
  t.match(await askText(server, command('command=fetch', 'nonsense', '|')), /ERR unknown capability 'nonsense'/);
  t.match(await askText(server, command('command=fetch', 'object-format=sha256', '|')), /ERR mismatched object format/);
  t.match(
    await askText(server, command('command=fetch', '|').slice(0, -4)),
    /ERR expected flush after fetch arguments/,
  );
  t.match(
    await askText(server, command('command=ls-refs', '|', ...Array(600).fill('peel'))),
    /ERR request has too many lines/,
  );
  const bomb = gzipSync(
    Buffer.from(command('command=ls-refs', '|', ...Array(400).fill(`ref-prefix ${'x'.repeat(400)}`))),
  );
  t.equal((await ask(server, bomb, { 'content-encoding': 'gzip' })).status, 413);
  t.match(
    await askText(server, command('nonsense'), { 'git-protocol': '' }),
    /ERR protocol error, expected to get object ID/,
  );
});

t.test('the same clone twice is the same bytes, kept', async (t) => {
  await using s = await stage();
  const { server, bench } = s;
  const main = await bench.git('work', 'rev-parse', 'main');
  const request = command('command=fetch', '|', `want ${main}`, 'ofs-delta', 'done');
  const [first, second] = [await askText(server, request), await askText(server, request)];
  t.equal(first, second);
  t.equal(await askText(server, gzipSync(request), { 'content-encoding': 'gzip' }), first, 'compressed too');
});
