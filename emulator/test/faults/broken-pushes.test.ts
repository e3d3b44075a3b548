import t from 'tap';
import { Workbench } from '../../git/test/workbench.js';
import type { LogLine } from '../../log/log.js';
import { type Service, startService } from '../service.js';

interface Story extends AsyncDisposable {
  readonly service: Service;
  readonly bench: Workbench;
  readonly log: LogLine[];
  /**
   * Creates a commit in the folder `work` and pushes it with a fault. Returns git's output. `moved` is true if the
   * remote branch `main` has changed.
   */
  push(fault: string | undefined, ...args: string[]): Promise<Pushed>;
}

interface Pushed {
  readonly status: number | null;
  readonly stderr: string;
  readonly moved: boolean;
}

async function start(): Promise<Story> {
  const log: LogLine[] = [];
  const service = await startService({}, { log: { write: (line) => void log.push(line) } });
  const bench = await Workbench.create();
  await service.seed('team/app');
  const url = await service.remote('team/app');
  await bench.git('.', 'clone', '-q', url, 'work');
  const main = () => bench.git('work', 'ls-remote', url, 'refs/heads/main');
  let count = 0;
  return {
    service,
    bench,
    log,
    async push(fault, ...args) {
      await bench.git('work', 'commit', '-q', '--allow-empty', '-m', `change ${count++}`);
      const before = await main();
      const asked = fault === undefined ? [] : ['-c', `http.extraHeader=X-Emulator-Fault: ${fault}`];
      const refs = args.length > 0 ? args : ['main'];
      const { status, stderr } = await bench.try('work', ...asked, 'push', url, ...refs);
      return { status, stderr, moved: (await main()) !== before };
    },
    async [Symbol.asyncDispose]() {
      await service.emulator.close({ graceMs: 0 });
      await bench[Symbol.asyncDispose]();
    },
  };
}

/** Faults in a push. Each has the expected outcome of git, whether the ref moves, and git's messages. */
const FAULTS: Readonly<Record<string, readonly [failed: boolean, moved: boolean, says: RegExp]>> = {
  'ng;ref=refs/heads/main;reason=not today': [true, false, /! \[remote rejected\] main -> main \(not today\)/],
  'ng;ref=refs/heads/other': [false, true, /main -> main/],
  'cut@git.receive': [true, false, /RPC failed; curl.*unexpected disconnect/s],
  'cut@git.receive;bytes=40': [true, false, /RPC failed; curl/],
  'cut@git.receive;how=rst': [true, false, /RPC failed; curl/],
  'cut@git.receive;how=end': [true, false, /remote unpack failed: (early EOF|eof before)/],
  'cut@body': [true, false, /RPC failed; curl/],
  'cut@body;bytes=3;how=rst': [true, false, /RPC failed; curl/],
  'throttle@body;bps=20000': [false, true, /main -> main/],
  'throttle@git.receive;bps=20000': [false, true, /main -> main/],
  'internal_error@git.receive': [true, false, /RPC failed; HTTP 500/],
  'sideband@git.receive;text=no pushes today': [true, false, /^remote: no pushes today/m],
  'lost@git.report': [true, true, /RPC failed; curl.*unexpected disconnect/s],
  // After a lost response, git reports a rejected ref. The connection closes before the first byte of the response, so
  // libcurl repeats the request. The repeated request finds that the ref has already moved.
  lost: [true, true, /! \[remote rejected\] main -> main \(incorrect old value provided\)/],
  'lost;how=rst': [true, true, /! \[remote rejected\] main -> main \(incorrect old value provided\)/],
  'lost@git.report;status=502': [true, true, /RPC failed; HTTP 502/],
  'lost;status=504': [true, true, /RPC failed; HTTP 504/],
  'cut@git.report': [true, true, /RPC failed; curl/],
  'cut@git.report;how=rst': [true, true, /RPC failed; curl/],
  'cut@git.report;bytes=5;how=end': [true, true, /hung up|failed to push/],
  'cut@git.report;trailer=1;how=end': [true, true, /hung up|failed to push/],
  'corrupt@git.report': [true, true, /invalid status line|bad line length|failed to report status/],
  'sideband@git.report;band=3;text=out of luck': [true, true, /^remote: out of luck/m],
  'sideband@git.report;band=2;text=a note': [false, true, /^remote: a note/m],
  'flood;lines=3;text=ping': [false, true, /^(remote: ping *\n){3}/m],
  'slice@git.report;size=1;pause=1': [false, true, /main -> main/],
  'throttle@git.report;bps=1000': [false, true, /main -> main/],
};

t.test('git reports each broken push, and the ref has moved or not as documented', async (t) => {
  await using story = await start();
  const { bench, log, service } = story;
  t.comment(await bench.git('.', 'version'));
  for (const [fault, [failed, hasMoved, says]] of Object.entries(FAULTS)) {
    const { status, stderr, moved } = await story.push(fault);
    t.equal(status !== 0, failed, `${fault}: ${stderr}`);
    t.equal(moved, hasMoved, fault);
    t.match(stderr, says, fault);
  }
  t.match(await story.push(undefined), { status: 0, moved: true }, 'nothing of it is left');
  t.same(
    log.filter(({ event }) => event === 'internal_error'),
    [],
    'none of it failed',
  );
  const met = [...service.world.state.journal.entries()].filter(({ origin }) => origin.startsWith('injected:'));
  // Count each fault once. If libcurl repeats the request, the fault fires and is recorded twice.
  const fired = new Set(met.map(({ origin }) => origin));
  t.equal(fired.size, Object.keys(FAULTS).length - 1, 'all but the one that no ref fits');
  t.same(
    met.filter(({ operation }) => operation !== 'gitReceivePack'),
    [],
  );
});

t.test('a push whose report is lost has taken effect: the next push is up to date', async (t) => {
  await using story = await start();
  for (const fault of ['lost@git.report', 'cut@git.report', 'lost']) {
    t.match(await story.push(fault), { moved: true });
    const again = await story.bench.try('work', 'push', await story.service.remote('team/app'), 'main');
    t.match(again, { status: 0, stderr: /Everything up-to-date/ }, fault);
  }
});

t.test('one ref of several is refused, and has not moved; an atomic push fails as a whole', async (t) => {
  await using story = await start();
  const { bench, service } = story;
  const refs = async () =>
    (await bench.git('work', 'ls-remote', await service.remote('team/app'), 'refs/heads/*'))
      .split('\n')
      .map((line) => line.slice(41));
  const some = await story.push('ng;ref=refs/heads/b;reason=no room', 'main:a', 'main:b', 'main:c');
  t.match(some, { status: 1, stderr: /! \[remote rejected\] main -> b \(no room\)/ });
  t.same(await refs(), ['refs/heads/a', 'refs/heads/c', 'refs/heads/main']);
  const none = await story.push('ng;ref=refs/heads/d', '--atomic', 'main:d', 'main:e', 'main');
  t.match(none, { status: 1, moved: false });
  t.match(none.stderr, /main -> d \(injected fault\)/);
  t.match(none.stderr, /main -> e \(atomic push failure\)/);
  t.same(await refs(), ['refs/heads/a', 'refs/heads/c', 'refs/heads/main']);
});

t.test('a push with a reported unpack error has moved no ref', async (t) => {
  await using story = await start();
  const { bench, service } = story;
  const fault = { match: { op: 'gitReceivePack' }, at: 'git.report', do: { report: { unpack: 'disk full' } } };
  const url = await service.remote('team/app', { claims: { emu: { faults: [fault] } } });
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'change');
  const before = await bench.git('work', 'ls-remote', url, 'refs/heads/main');
  const { status, stderr } = await bench.try('work', 'push', url, 'main');
  t.not(status, 0);
  t.match(stderr, /remote unpack failed: disk full.*main -> main \(unpacker error\)/s);
  t.equal(await bench.git('work', 'ls-remote', url, 'refs/heads/main'), before);
});

t.test('a fault for a ref affects only pushes and fetches of that ref', async (t) => {
  await using story = await start();
  const { bench, service } = story;
  const match = { op: ['gitReceivePack', 'gitUploadPack'], git: { ref: 'refs/heads/guarded*' } };
  const receive = { match, at: 'git.receive', do: { cut: { how: 'rst' } } };
  const url = await service.remote('team/app', { claims: { emu: { faults: [receive] } } });
  t.match(await bench.try('work', 'push', url, 'main:free'), { status: 0 });
  t.match(await bench.try('work', 'push', url, 'main:guarded-1'), { status: 1, stderr: /RPC failed/ });
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'change');
  await bench.git('work', 'push', '-q', await service.remote('team/app'), 'HEAD:guarded-2');
  const send = { match, at: 'git.pack', do: { cut: { how: 'end' } } };
  const from = await service.remote('team/app', { claims: { emu: { faults: [send] } } });
  await bench.git('.', 'init', '-q', 'other');
  t.match(await bench.try('other', 'fetch', '-q', from, 'free'), { status: 0 });
  t.match(await bench.try('other', 'fetch', '-q', from, 'guarded-2'), { status: 128, stderr: /early EOF/ });
});

t.test('429 on a push', async (t) => {
  await using story = await start();
  const { bench, service } = story;
  const version = await bench.git('.', 'version');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'change');
  for (const op of ['gitInfoRefs', 'gitReceivePack']) {
    const fault = { match: { op }, when: { times: 1 }, do: { error: { code: 'rate_limited', retryAfter: 1 } } };
    const url = await service.remote('team/app', { claims: { emu: { faults: [fault] } } });
    const { status, stderr } = await bench.try('work', 'push', url, `main:${op}`);
    t.comment(`${version}, 429 on ${op}: ${status === 0 ? 'tried again' : stderr}`);
    if (op === 'gitReceivePack') t.not(status, 0);
    if (status !== 0) t.match(stderr, /429/);
    const { stdout } = await bench.try('work', 'ls-remote', await service.remote('team/app'), `refs/heads/${op}`);
    t.equal(stdout !== '', status === 0);
  }
});
