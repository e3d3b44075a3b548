import t from 'tap';
import { childOf, stepsOf } from './paths.js';

const base64 = (bytes: string) => Buffer.from(bytes, 'latin1').toString('base64url');

t.test('an entry lies in its folder', async (t) => {
  t.same(childOf({}, { name: 'a' }), { path: 'a' });
  t.same(childOf({ path: '' }, { name: 'a' }), { path: 'a' });
  t.same(childOf({ path: 'a/b' }, { name: 'é' }), { path: 'a/b/é' });
});

t.test('a path that is not UTF-8 keeps its bytes, as do the paths below it', async (t) => {
  const folder = childOf({ path: 'é' }, { name: '\ufffd', name_bytes: base64('\xff') });
  t.same(folder, { path_bytes: base64('\xc3\xa9/\xff') });
  t.same(childOf(folder, { name: 'ü' }), { path_bytes: base64('\xc3\xa9/\xff/\xc3\xbc') });
  t.same(childOf({}, { name: '\ufffd', name_bytes: base64('\xff') }), { path_bytes: base64('\xff') });
});

t.test('each folder of a path has a link', async (t) => {
  t.same(stepsOf({ path: 'a/b c/d' }), [
    { name: 'a', at: { path: 'a' } },
    { name: 'b c', at: { path: 'a/b c' } },
    { name: 'd', at: { path: 'a/b c/d' } },
  ]);
  t.same(stepsOf({ path_bytes: base64('a/\xff') }), [
    { name: 'a', at: { path: 'a' } },
    { name: '\ufffd', at: { path_bytes: base64('a/\xff') } },
  ]);
  t.same(stepsOf({}), []);
});
