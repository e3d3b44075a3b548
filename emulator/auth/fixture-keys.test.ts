import t from 'tap';
import { fixtureKeys, fixtureRing } from './fixture-keys.js';

t.test('an organization starts with its own keys, except the deleted ones', async (t) => {
  const found = (index: number) =>
    fixtureKeys().flatMap(({ id }) => {
      const key = fixtureRing(index).find(id);
      return key ? [[key.kid, key.algorithm, key.isRestricted]] : [];
    });
  t.same(found(0), [
    ['es256', 'ES256', false],
    ['es384', 'ES384', false],
    ['es512', 'ES512', false],
    ['rs256', 'RS256', false],
    ['restricted', 'ES256', true],
  ]);
  t.same(found(1), [['second', 'ES256', false]], 'organizations share no key');
  t.ok(fixtureKeys().find(({ id }) => id === 'deleted')?.deleted);
});
