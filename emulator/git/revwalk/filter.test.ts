import t from 'tap';
import { BLOB, TREE, type TypeCode } from '../object/object.js';
import { ScratchGit } from '../test/workbench.js';
import { FilterError, NO_FILTER, parseFilter } from './filter.js';

t.test('every kind of filter is read', async (t) => {
  const without = (type: TypeCode) => NO_FILTER.types & ~(1 << type);
  t.same(parseFilter('blob:none'), { ...NO_FILTER, types: without(BLOB) });
  t.same(parseFilter('blob:limit=10'), { ...NO_FILTER, blobBytes: 10 });
  t.same(parseFilter('blob:limit=1k'), { ...NO_FILTER, blobBytes: 1024 });
  t.same(parseFilter('blob:limit=2M'), { ...NO_FILTER, blobBytes: 2 << 20 });
  t.same(parseFilter('blob:limit=0x10g'), { ...NO_FILTER, blobBytes: 2 ** 34 });
  t.same(parseFilter('tree:010'), { ...NO_FILTER, depth: 8 });
  t.same(parseFilter('object:type=tree'), { ...NO_FILTER, types: 1 << TREE });
  t.same(parseFilter('combine:blob:none+tree:3'), { ...NO_FILTER, types: without(BLOB), depth: 3 });
  t.same(parseFilter('combine:blob%3anone+combine%3Atree%3A1%2Btree%3A2'), {
    ...NO_FILTER,
    types: without(BLOB),
    depth: 1,
  });
});

t.test('what git refuses is refused, and what it takes is taken', async (t) => {
  using git = new ScratchGit();
  git.run(['commit', '-q', '--allow-empty', '-m', 'one']);
  for (const spec of [
    ...['', 'blob', 'blob:', 'blob:some', 'blob:none ', 'blob:limit', 'blob:limit=', 'blob:limit=-1', 'blob:limit=1x'],
    ...['blob:limit= 1', 'blob:limit=+1', 'blob:limit=1 ', 'blob:limit=08', 'blob:limit=0x', 'blob:limit=1kk'],
    ...['blob:limit=18446744073709551615', 'blob:limit=18446744073709551616', 'blob:limit=99999999999g', 'BLOB:none'],
    ...['tree:', 'tree:a', 'tree:1', 'tree:1k', 'tree:-1', 'object:type=', 'object:type=Blob', 'object:type=tag'],
    ...['combine:', 'combine:tree:1', 'combine:tree:1+', 'combine:+tree:1', 'combine:tree:1++tree:2', 'combine:~'],
    ...['combine:tree:1%', 'combine:tree%3a1', 'combine:tree:1,tree:2', 'combine:tree:1 +tree:2', 'combine:+'],
    ...['sparse:path=x', 'sparse', 'auto'],
  ]) {
    const { status, stderr } = git.try(['rev-list', '--objects', `--filter=${spec}`, 'HEAD']);
    const message = /^fatal: (.*)/.exec(stderr)?.[1];
    if (status === 0) t.doesNotThrow(() => parseFilter(spec), spec);
    else t.throws(() => parseFilter(spec), { name: 'FilterError' }, `${spec}: ${message}`);
  }
});

t.test('sparse filters and deep nesting are refused', async (t) => {
  t.throws(() => parseFilter('sparse:oid=HEAD:x'), FilterError);
  t.throws(() => parseFilter(`${'combine:'.repeat(5000)}blob:none`), { message: 'filters are nested too deeply' });
});

t.test('a combination is the strictest of each', async (t) => {
  const filter = parseFilter('combine:tree:5+tree:2+blob:limit=10+blob:limit=3+combine%3aobject:type=blob');
  t.same(filter, { depth: 2, blobBytes: 3, types: 1 << BLOB });
});
