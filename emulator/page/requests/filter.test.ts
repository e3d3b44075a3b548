import t from 'tap';
import { type Filter, proposalsOf, readFilter, writeFilter } from './filter.js';

const WRITTEN: readonly (readonly [words: string, filter: Filter])[] = [
  ['', {}],
  ['status=4xx', { status: '4xx' }],
  ['status=4xx operation=git* app.git 404', { status: '4xx', operation: 'git*', text: 'app.git 404' }],
  ['subject="ada b" git.phase=rpc', { subject: 'ada b', 'git.phase': 'rpc' }],
  ['subject="say \\"hi\\" \\\\"', { subject: 'say "hi" \\' }],
  ['"sha=main"', { text: 'sha=main' }],
  ['unknown=1', { unknown: '1' }],
  ['path=/a?b=c', { path: '/a?b=c' }],
];

t.test('formatting a filter and reading it again gives the same filter', async (t) => {
  for (const [words, filter] of WRITTEN) {
    t.same(readFilter(words), filter, words);
    t.equal(writeFilter(filter), words);
  }
});

t.test('other spellings of a filter are read', async (t) => {
  t.same(readFilter('  status=404   status=500 '), { status: '404,500' }, 'values of a list are joined');
  t.same(readFilter('subject=a subject=b'), { subject: 'b' }, 'of others the last counts');
  t.same(readFilter('status= x'), { text: 'x' }, 'a name without a value is not yet one');
  t.same(readFilter('"open'), { text: '"open' });
});

t.test('suggestions complete the last word', async (t) => {
  const values = { operation: ['gitInfoRefs', 'readFile'], subject: ['ada b'] };
  t.same(proposalsOf('st', values), ['status=']);
  t.same(proposalsOf('status=4', values), ['status=4xx']);
  t.same(proposalsOf('status=4xx op', values), ['status=4xx operation=']);
  t.same(proposalsOf('operation=git', values), ['operation=git*', 'operation=gitInfoRefs']);
  t.same(proposalsOf('operation=git*,re', values), ['operation=git*,readFile']);
  t.same(proposalsOf('subject=', values), ['subject="ada b"']);
  t.same(proposalsOf('unknown=', values), []);
});

t.test('names that every object inherits, such as constructor, are ordinary names', async (t) => {
  for (const name of ['constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
    t.same(readFilter(`${name}=x`), { [name]: 'x' });
    t.equal(writeFilter({ [name]: 'x' }), `${name}=x`);
    t.same(proposalsOf(`${name}=`, {}), []);
  }
  t.same(proposalsOf('__proto__=', {}), []);
});
