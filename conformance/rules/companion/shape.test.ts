import t from 'tap';
import { findMismatches } from './shape.js';

t.test('a shape lists the members that a body lacks', async (t) => {
  const shape = { 'branches[].name': 'string', 'target.ephemeral': 'boolean', has_more: 'boolean' } as const;
  const branches = [{ name: 'main' }, { name: 'side' }];
  t.same(findMismatches({ branches, target: { ephemeral: false }, has_more: true }, shape), []);
  t.same(findMismatches({ branches: [{ name: 'main' }, {}], target: {}, has_more: null }, shape), [
    'branches[].name is missing',
    'target.ephemeral is missing',
    'has_more is null',
  ]);
  t.same(findMismatches({ branches: [], target: { ephemeral: 'no' }, has_more: true }, shape), [
    'branches[].name is missing',
    'target.ephemeral is string',
  ]);
  t.same(findMismatches({ branches: 'none', target: [], has_more: 1 }, shape), [
    'branches[].name is missing',
    'target.ephemeral is missing',
    'has_more is number',
  ]);
  t.equal(findMismatches(undefined, shape).length, 3, 'a body that is not JSON lacks everything');
  t.same(findMismatches({ conflicts: [] }, { conflicts: 'array' }), [], 'an empty array is an array');
});
