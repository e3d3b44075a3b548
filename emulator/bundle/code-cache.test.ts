import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { hashOf, isPrivate } from './cache-file.js';
import { Bundle, codeCacheFolder } from './code-cache.js';

const PART = 'part-0aB_-9xy.cjs';
const OTHER = 'other-00000000.cjs';
const SHIPPED = `entry.cjs.${process.version}-${process.platform}-${process.arch}.cache`;

/**
 * Creates a JavaScript bundle with two files. The entry loads the second file, whose name contains its content hash.
 */
function makeBundle(t: Test, part = 'exports.value = () => 1;') {
  const root = t.testdir({ bundle: { 'entry.cjs': `exports.value = require('./${PART}').value();`, [PART]: part } });
  const folder = join(root, 'user', 'caches');
  const file = (name: string) => join(root, 'bundle', name);
  const caches = () => (existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []);
  const open = () => new Bundle(file('entry.cjs'), folder);
  const load = () => open().load().value;
  const keep = (bundle = open()) => {
    const { value } = bundle.load();
    bundle.keepCode();
    return value;
  };
  return { root, folder, file, caches, open, load, keep };
}

t.test('the code cache is one private file in the cache folder, and nothing is written next to the bundle', (t) => {
  const { file, folder, caches, load, keep } = makeBundle(t);
  t.equal(keep(), 1);
  const [cache, ...others] = caches();
  t.same([statSync(cache!).mode & 0o777, statSync(folder).mode & 0o777, others], [0o600, 0o700, []]);
  t.same(readdirSync(file('')), ['entry.cjs', PART]);
  rmSync(file(PART));
  t.equal(load(), 1);
  const { mtimeMs } = statSync(cache!);
  keep();
  t.equal(statSync(cache!).mtimeMs, mtimeMs, 'a cache that has all files is not written again');
  t.end();
});

t.test('shipped code is used until the user has a cache', (t) => {
  const { file, load, keep } = makeBundle(t);
  const bundle = new Bundle(file('entry.cjs'), undefined);
  bundle.load();
  bundle.shipCode();
  t.same(readdirSync(file('')), ['entry.cjs', SHIPPED, PART]);
  t.notOk(readFileSync(file(SHIPPED)).includes('exports.value'), 'the shipped cache has no sources');
  t.equal(keep(), 1);
  rmSync(file(SHIPPED));
  rmSync(file(PART));
  t.equal(load(), 1, 'the user cache contains the sources as well');
  t.end();
});

t.test('a changed entry has its own cache, and the cache of the old entry is deleted', (t) => {
  const { file, caches, load, keep } = makeBundle(t);
  keep();
  const [before] = caches();
  writeFileSync(file('entry.cjs'), `exports.value = require('./${PART}').value() + 1;`);
  t.equal(load(), 2);
  t.equal(keep(), 2);
  t.equal(load(), 2);
  t.equal(caches().length, 1);
  t.notSame(caches(), [before]);
  t.end();
});

t.test('a cache without its entry and old temporary files are deleted', (t) => {
  const { folder, file, caches, keep } = makeBundle(t);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const present = JSON.stringify({ entry: file('entry.cjs'), content: hashOf(readFileSync(file('entry.cjs'))) });
  writeFileSync(join(folder, 'of-another-node.cache'), `sum\n${present}\n`);
  writeFileSync(join(folder, 'gone.cache'), 'sum\n{"entry":"/no/such/entry.cjs","content":""}\n');
  writeFileSync(join(folder, 'damaged.cache'), 'of something else');
  writeFileSync(join(folder, 'being-written.cache.1'), '');
  writeFileSync(join(folder, 'abandoned.cache.2'), '');
  writeFileSync(join(folder, 'notes.txt'), '');
  utimesSync(join(folder, 'abandoned.cache.2'), 0, 0);
  keep();
  const left = caches().map((path) => path.slice(folder.length + 1));
  t.same(left.filter((name) => !/^[0-9a-f]{64}\.cache$/.test(name)).sort(), [
    'being-written.cache.1',
    'notes.txt',
    'of-another-node.cache',
  ]);
  t.equal(left.length, 4);
  t.end();
});

t.test('code that is loaded later is added to the cache', (t) => {
  const { file, load, keep } = makeBundle(
    t,
    `exports.value = () => process.env.OTHER ? require('./${OTHER}').value : 1;`,
  );
  writeFileSync(file(OTHER), 'exports.value = 3;');
  t.equal(keep(), 1);
  process.env.OTHER = 'yes';
  t.teardown(() => delete process.env.OTHER);
  t.equal(keep(), 3);
  rmSync(file(PART));
  rmSync(file(OTHER));
  t.equal(load(), 3);
  t.end();
});

t.test('a damaged cache is not used, and is replaced', (t) => {
  const { caches, load, keep } = makeBundle(t);
  keep();
  const [cache] = caches();
  const whole = readFileSync(cache!);
  const cut = [0, 10, 100, whole.length - 1].map((length) => whole.subarray(0, length));
  // Damage the cached code in several ways. The program must notice this before V8 loads the code, because V8 accepts
  // changed code of equal length and crashes later.
  const flipped = [70, whole.length - 100, whole.length - 1].map((at) => {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 0x55;
    return bytes;
  });
  for (const bytes of [...cut, ...flipped, Buffer.from('of another program'), Buffer.from('{}\n{}\n')]) {
    writeFileSync(cache!, bytes);
    t.equal(load(), 1, `${bytes.length} bytes`);
    t.equal(keep(), 1);
    // The new length may differ from the length of `whole`, because V8 may store less code after a garbage collection.
    const replaced = readFileSync(cache!);
    t.not(replaced.compare(bytes), 0, 'the damaged file is replaced');
    t.ok(replaced.length > 1000, `${replaced.length} bytes`);
  }
  t.end();
});

t.test('a cache that other users can write is not used', (t) => {
  const { caches, file, load, keep } = makeBundle(t);
  keep();
  const [cache] = caches();
  rmSync(file(PART));
  chmodSync(cache!, 0o622);
  t.throws(load, { code: 'ENOENT' });
  chmodSync(cache!, 0o600);
  t.equal(load(), 1);
  t.equal(isPrivate({ uid: process.getuid!() + 1, mode: 0o600 }), false);
  t.end();
});

t.test(
  'nothing is written if the folder cannot be created, is not private, or has a folder in place of the cache',
  (t) => {
    const { root, folder, file, open, keep } = makeBundle(t);
    writeFileSync(join(root, 'user'), 'not a folder');
    t.equal(keep(), 1);
    rmSync(join(root, 'user'));
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    t.equal(keep(), 1);
    t.same(readdirSync(folder), []);
    chmodSync(folder, 0o700);
    keep();
    const [cache = ''] = readdirSync(folder);
    rmSync(join(folder, cache));
    mkdirSync(join(folder, cache));
    t.equal(keep(), 1);
    t.same(readdirSync(folder), [cache]);
    rmSync(join(folder, cache), { recursive: true });
    symlinkSync(file('entry.cjs'), join(folder, `${cache}.${process.pid}`));
    t.equal(keep(open()), 1);
    t.match(readFileSync(file('entry.cjs'), 'utf8'), /^exports/, 'no link is followed');
    t.end();
  },
);

t.test('concurrent processes do not damage the cache', (t) => {
  const { caches, open, load, keep } = makeBundle(t);
  const bundles = [open(), open(), open()];
  for (const bundle of bundles) t.equal(keep(bundle), 1);
  t.equal(caches().length, 1);
  t.equal(load(), 1);
  t.end();
});

t.test('a source that is not ASCII is not cached, other sources are', (t) => {
  const { file, load, keep } = makeBundle(t, `exports.value = () => require('./${OTHER}').value + '1';`);
  writeFileSync(file(OTHER), `exports.value = 'ü€😀';`);
  t.equal(keep(), 'ü€😀1');
  rmSync(file(PART));
  t.equal(load(), 'ü€😀1');
  t.end();
});

t.test('the folder is the cache folder of the user', (t) => {
  const folder = (platform: NodeJS.Platform, env: Record<string, string>) => codeCacheFolder({ platform, env });
  const inHome = (...path: string[]) => join(homedir(), ...path, 'repohost-emulator');
  t.equal(folder('linux', {}), inHome('.cache'));
  t.equal(folder('linux', { XDG_CACHE_HOME: '/var/caches' }), '/var/caches/repohost-emulator');
  t.equal(folder('linux', { XDG_CACHE_HOME: 'relative' }), inHome('.cache'));
  t.equal(folder('darwin', {}), inHome('Library', 'Caches'));
  t.equal(folder('win32', {}), inHome('AppData', 'Local'));
  t.equal(folder('win32', { LOCALAPPDATA: '/c/local' }), '/c/local/repohost-emulator');
  t.equal(folder('linux', { NODE_DISABLE_COMPILE_CACHE: '1' }), undefined);
  const { HOME: home } = process.env;
  t.teardown(() => {
    process.env.HOME = home;
  });
  process.env.HOME = '';
  t.equal(folder('linux', {}), undefined);
  t.end();
});
