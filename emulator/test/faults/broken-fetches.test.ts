import t from 'tap';
import { Workbench } from '../../git/test/workbench.js';
import type { LogLine } from '../../log/log.js';
import { type Service, startService } from '../service.js';

const FILES = Object.fromEntries(
  Array.from({ length: 30 }, (_, index) => [`folder${index % 3}/file${index}.txt`, `${index} `.repeat(400)]),
);

interface Story extends AsyncDisposable {
  readonly service: Service;
  readonly bench: Workbench;
  readonly log: LogLine[];
}

async function start(): Promise<Story> {
  const log: LogLine[] = [];
  const service = await startService({}, { log: { write: (line) => void log.push(line) } });
  const bench = await Workbench.create();
  await service.seed('team/app', FILES);
  return {
    service,
    bench,
    log,
    async [Symbol.asyncDispose]() {
      await service.emulator.close({ graceMs: 0 });
      await bench[Symbol.asyncDispose]();
    },
  };
}

/**
 * Faults in a fetch, each with the expected outcome and messages of git. Messages about HTTP come from git's libcurl.
 */
const FAULTS: Readonly<Record<string, readonly [failed: boolean, says: RegExp, options?: readonly string[]]>> = {
  cut: [true, /RPC failed; curl.*early EOF/s],
  'cut;bytes=100;how=fin': [true, /RPC failed; curl.*early EOF/s],
  'cut;objects=3': [true, /RPC failed; curl.*early EOF/s],
  'cut;trailer=1': [true, /RPC failed; curl.*early EOF/s],
  'cut;how=rst': [true, /RPC failed; curl.*early EOF/s],
  'cut;how=stall': [true, /too slow.*early EOF/s, ['http.lowSpeedLimit=1000', 'http.lowSpeedTime=1']],
  'cut;how=end': [true, /^fatal: early EOF/m],
  'cut;objects=3;how=end': [true, /^fatal: early EOF/m],
  'cut;trailer=1;how=end': [true, /^fatal: early EOF/m],
  'cut;bytes=0;how=end': [true, /^fatal: (early EOF|eof before pack header)/m],
  corrupt: [true, /inflate: data stream error|inflate returned|SHA1 mismatch/],
  'corrupt;bytes=999999999': [true, /SHA1 mismatch/],
  drop_object: [true, /did not receive expected object|missing blob/],
  'drop_object;bytes=7': [true, /did not receive expected object|missing blob/],
  'sideband;band=3;text=out of luck': [true, /^remote: out of luck/m],
  'sideband;band=2;text=nearly there': [false, /^remote: nearly there/m],
  'flood;lines=500;text=ping': [false, /^(remote: ping *\n){500}/m],
  'throttle@git.pack;bps=20000': [false, /^$/],
  'slice@git.pack;size=1000;pause=1': [false, /^$/],
  'slice@git.advertise;size=1': [false, /^$/],
  'internal_error@git.pack': [true, /RPC failed; HTTP 500/],
  'rate_limited@git.pack': [true, /RPC failed; HTTP 429/],
  'sideband@git.advertise;text=out of luck': [true, /remote error: out of luck/],
  'cut@git.advertise': [true, /transfer closed|end of response/],
  'corrupt@git.advertise;bytes=0': [true, /protocol error|invalid server response|not valid/],
  'raw;status=200;body=aGVsbG8;type=application/x-git-upload-pack-advertisement': [
    true,
    /protocol error|invalid server response/,
  ],
  'lost;how=fin': [true, /RPC failed; curl/],
  'cut@response.head;how=rst;bytes=20': [true, /unable to access|Authentication failed/],
};

/**
 * Matches faults that name a side-band, or that `index-pack` detects. They are tested only with protocol version 2,
 * where every client has both.
 */
const ONLY_V2 = /sideband(?!@)|flood/;

t.test('git reports each broken fetch, and the next fetch succeeds', async (t) => {
  await using story = await start();
  const { service, bench, log } = story;
  t.comment(await bench.git('.', 'version'));
  const clone = (name: string, url: string, options: readonly string[] = []) =>
    bench.try('.', ...options.flatMap((option) => ['-c', option]), 'clone', '-q', url, name);
  let count = 0;
  for (const [fault, [failed, says, options = []]] of Object.entries(FAULTS)) {
    for (const version of ONLY_V2.test(fault) ? [2] : [2, 0]) {
      const asked = [`http.extraHeader=X-Emulator-Fault: ${fault}`, `protocol.version=${version}`, ...options];
      const { status, stderr } = await clone(`c${count++}`, await service.remote('team/app'), asked);
      t.equal(status !== 0, failed, `${fault}, version ${version}: ${stderr}`);
      if (version === 2) t.match(stderr, says);
      else t.equal(stderr !== '', failed);
    }
  }
  // Also test a fault in a claim of the token. Clients that cannot send additional headers define faults in this way.
  const claims = { emu: { faults: ['cut;how=end'] } };
  t.match(await clone(`c${count++}`, await service.remote('team/app', { claims })), {
    status: 128,
    stderr: /early EOF/,
  });
  const whole = await clone('whole', await service.remote('team/app'));
  t.same(whole, { status: 0, stdout: '', stderr: '' }, 'nothing of it is left');
  await bench.git('whole', 'fsck', '--strict');

  const entries = [...service.world.state.journal.entries()];
  const injected = entries.filter(({ origin }) => origin.startsWith('injected:'));
  t.ok(injected.length > count, 'the journal says which answers were asked to break');
  t.same(
    log.filter(({ event }) => event === 'internal_error'),
    [],
    'and none of them failed',
  );
});

t.test('a pack with a dropped object is a valid pack', async (t) => {
  await using story = await start();
  const { service, bench } = story;
  const { stdout } = await bench.try('.', 'ls-remote', await service.remote('team/app'), 'refs/heads/main');
  const tip = stdout.slice(0, 40);
  const packet = (line: string) => `${(line.length + 5).toString(16).padStart(4, '0')}${line}\n`;
  const body = `${packet('command=fetch')}0001${packet('ofs-delta')}${packet('no-progress')}${packet(`want ${tip}`)}${packet('done')}0000`;
  const fetchPack = async (fault?: string): Promise<Buffer> => {
    const { bytes } = await service.call('POST', '/team/app.git/git-upload-pack', {
      body,
      headers: {
        'content-type': 'application/x-git-upload-pack-request',
        'git-protocol': 'version=2',
        ...(fault !== undefined && { 'x-emulator-fault': fault }),
      },
    });
    return dataOf(bytes);
  };
  const whole = await fetchPack();
  const short = await fetchPack('drop_object;bytes=4');
  t.equal(short.readUInt32BE(8), whole.readUInt32BE(8) - 1);
  await bench.git('.', 'init', '-q', '--bare', 'empty');
  const indexed = await bench.run('empty', 'git', ['index-pack', '--stdin', '--keep'], short);
  t.match(indexed, { status: 0, stderr: '' });
  const [, pack] = indexed.stdout.trim().split('\t');
  const listed = await bench.git('empty', 'verify-pack', '-v', `objects/pack/pack-${pack}.pack`);
  t.equal(listed.split('\n').filter((line) => / blob /.test(line)).length, Object.keys(FILES).length - 1);

  // Offsets count bytes of the pack without its packet framing. A pack from the cache must be truncated in the same
  // way.
  for (const [fault, wanted] of [
    ['cut;bytes=1000;how=end', whole.subarray(0, 1000)],
    ['cut;fraction=0.3;how=end', whole.subarray(0, Math.floor(whole.length * 0.3))],
    ['cut;trailer=1;how=end', whole.subarray(0, -20)],
    ['cut;objects=1000;how=end', whole.subarray(0, -20)],
    ['cut;objects=0;how=end', whole.subarray(0, 12)],
  ] as const) {
    t.same(await fetchPack(fault), wanted, fault);
  }
  const flipped = Buffer.from(whole);
  flipped[500]! ^= 0xff;
  t.same(await fetchPack('corrupt;bytes=500'), flipped);
  t.same(await fetchPack(), whole, 'what is kept is whole');
});

/** Extracts the pack data (side-band 1) from a fetch response. */
function dataOf(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + 4), 16);
    if (length > 4 && bytes[at + 4] === 1) pieces.push(bytes.subarray(at + 5, at + length));
    at += Math.max(4, length);
  }
  return Buffer.concat(pieces);
}

t.test('a client without side-band gets the pack up to the cut', async (t) => {
  await using story = await start();
  const { service, bench } = story;
  const { stdout } = await bench.try('.', 'ls-remote', await service.remote('team/app'), 'refs/heads/main');
  const line = `want ${stdout.slice(0, 40)} ofs-delta no-progress\n`;
  const body = `${(line.length + 4).toString(16).padStart(4, '0')}${line}00000009done\n`;
  const fetchPack = async (fault = ''): Promise<Buffer> => {
    const headers = { 'content-type': 'application/x-git-upload-pack-request', 'x-emulator-fault': fault };
    if (fault === '') Reflect.deleteProperty(headers, 'x-emulator-fault');
    const { bytes } = await service.call('POST', '/team/app.git/git-upload-pack', { body, headers });
    return bytes.subarray(bytes.indexOf('PACK'));
  };
  const whole = await fetchPack();
  t.same(await fetchPack('cut;bytes=1000;how=end'), whole.subarray(0, 1000));
  t.same((await fetchPack('drop_object')).readUInt32BE(8), whole.readUInt32BE(8) - 1);
  await t.rejects(fetchPack('cut;bytes=1000'));
  const said = await service.call('POST', '/team/app.git/git-upload-pack', {
    body,
    headers: {
      'content-type': 'application/x-git-upload-pack-request',
      'x-emulator-fault': 'sideband;band=3;text=out of luck',
    },
  });
  t.equal(said.text, '0013ERR out of luck');
});

t.test('git repeats a throttled info/refs request, but not a throttled fetch', async (t) => {
  await using story = await start();
  const { service, bench } = story;
  const version = await bench.git('.', 'version');
  for (const op of ['gitInfoRefs', 'gitUploadPack']) {
    const fault = { match: { op }, when: { times: 1 }, do: { error: { code: 'rate_limited', retryAfter: 1 } } };
    const before = [...service.world.state.journal.entries()].length;
    const url = await service.remote('team/app', { claims: { emu: { faults: [fault] } } });
    const { status, stderr } = await bench.try('.', 'clone', '-q', url, op);
    const met = [...service.world.state.journal.entries()].slice(before).filter((entry) => entry.status === 429);
    t.match(met, [{ operation: op, code: 'rate_limited', origin: /^injected:/ }]);
    t.comment(`${version}, 429 on ${op}: ${status === 0 ? 'tried again' : stderr}`);
    // Expect status 429 in git's output unless git has succeeded. Git versions that support `Retry-After` repeat the
    // request for `info/refs`.
    if (op === 'gitUploadPack' || status !== 0) t.match(stderr, /429/);
    if (op === 'gitUploadPack') t.not(status, 0);
  }
});

t.test('the response to ls-refs of protocol version 2 can be broken as well', async (t) => {
  await using story = await start();
  const { service, bench } = story;
  const match = { op: 'gitUploadPack', git: { command: 'ls-refs' } };
  for (const [action, says] of [
    [{ sideband: { band: 3, text: 'no refs today' } }, /remote error: no refs today/],
    [{ cut: {} }, /RPC failed; curl/],
    [{ cut: { at: { beforeTrailer: true }, how: 'end' } }, /expected flush after ref listing/],
  ] as const) {
    const fault = { match, at: 'git.advertise', do: action };
    const url = await service.remote('team/app', { claims: { emu: { faults: [fault] } } });
    t.match(await bench.try('.', 'ls-remote', url), { status: 128, stderr: says });
    t.match(await bench.try('.', '-c', 'protocol.version=0', 'ls-remote', url), { status: 0 }, 'version 0 has none');
  }
});

t.test('a stall ends when the emulator is reset or closed', async (t) => {
  for (const how of ['reset', 'close'] as const) {
    await using story = await start();
    const { service, bench } = story;
    const asked = 'http.extraHeader=X-Emulator-Fault: cut;how=stall;bytes=50';
    const stalled = bench.try('.', '-c', asked, 'clone', '-q', await service.remote('team/app'), 'c');
    const isStalled = () => [...service.world.state.journal.entries()].some(({ origin }) => /^injected/.test(origin));
    while (!isStalled()) await new Promise((resolve) => setTimeout(resolve, 20));
    await (how === 'reset' ? service.emulator.reset() : service.emulator.close());
    t.match(await stalled, { status: 128, stderr: /early EOF|eof before pack header/ }, how);
  }
});
