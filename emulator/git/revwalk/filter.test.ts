import t from 'tap';
import { BLOB, TREE } from '../object/object.js';
import { ScratchGit } from '../test/workbench.js';
import { FilterError, parseFilter, ruleOf } from './filter.js';

t.test('every kind of filter is read', async (t) => {
  t.same(parseFilter('blob:none'), { kind: 'blob:none' });
  t.same(parseFilter('blob:limit=10'), { kind: 'blob:limit', bytes: 10 });
  t.same(parseFilter('blob:limit=1k'), { kind: 'blob:limit', bytes: 1024 });
  t.same(parseFilter('blob:limit=2M'), { kind: 'blob:limit', bytes: 2 << 20 });
  t.same(parseFilter('blob:limit=0x10g'), { kind: 'blob:limit', bytes: 2 ** 34 });
  t.same(parseFilter('tree:010'), { kind: 'tree', depth: 8 });
  t.same(parseFilter('object:type=tree'), { kind: 'object:type', type: TREE });
  t.same(parseFilter('combine:blob:none+tree:3'), {
    kind: 'combine',
    filters: [{ kind: 'blob:none' }, { kind: 'tree', depth: 3 }],
  });
  t.same(parseFilter('combine:blob%3anone+combine%3Atree%3A1%2Btree%3A2'), {
    kind: 'combine',
    filters: [
      { kind: 'blob:none' },
      {
        kind: 'combine',
        filters: [
          { kind: 'tree', depth: 1 },
          { kind: 'tree', depth: 2 },
        ],
      },
    ],
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
  const rule = ruleOf(parseFilter('combine:tree:5+tree:2+blob:limit=10+blob:limit=3+combine%3aobject:type=blob'));
  t.same(rule, { depth: 2, blobBytes: 3, types: 1 << BLOB });
});
