import t from 'tap';
import { decide, needsSignedCommits, parsePolicy } from './policy.js';
import { failure } from './test/failure.js';

t.test('ref policies', async (t) => {
  const policy = parsePolicy(
    [
      ['refs/heads/main', ['no-push']],
      ['release/open', []],
      ['release/*', ['no-force-push', 'verify-sig']],
      ['refs/tags/*', ['no-push']],
    ],
    ['no-force-push'],
  );
  const rows: [ref: string, push: string | undefined, force: string | undefined][] = [
    ['refs/heads/main', 'denied by policy (no-push)', 'denied by policy (no-push)'],
    ['refs/heads/release/1', undefined, 'denied by policy (no-force-push)'],
    ['refs/heads/release/a/b', undefined, 'denied by policy (no-force-push)'],
    ['refs/heads/release/open', undefined, undefined],
    ['refs/heads/release', undefined, 'denied by policy (no-force-push)'],
    ['refs/heads/mainline', undefined, 'denied by policy (no-force-push)'],
    ['refs/tags/v1', 'denied by policy (no-push)', 'denied by policy (no-push)'],
    ['refs/notes/commits', undefined, 'denied by policy (no-force-push)'],
  ];
  for (const [ref, push, force] of rows) {
    t.equal(decide(policy, ref, 'push'), push, `${ref} push`);
    t.equal(decide(policy, ref, 'force'), force, `${ref} force`);
  }
  t.ok(needsSignedCommits(policy, 'refs/heads/release/1'));
  t.notOk(needsSignedCommits(policy, 'refs/heads/release/open'), 'an empty list allows everything');
  t.same(parsePolicy(undefined, undefined), []);
  t.equal(decide([], 'refs/heads/main', 'force'), undefined);
  t.equal(decide(parsePolicy([['*', ['no-push']]], undefined), 'refs/x', 'push'), 'denied by policy (no-push)');
  t.equal(decide(parsePolicy(undefined, ['no-push']), 'refs/x', 'push'), 'denied by policy (no-push)');
  const unreadable: [unknown, unknown][] = [
    ['main', undefined],
    [{}, undefined],
    [null, undefined],
    [['main'], undefined],
    [[['main']], undefined],
    [[['main', 'no-push']], undefined],
    [[['main', ['no-pull']]], undefined],
    [[['', []]], undefined],
    [[['rel-*', ['no-push']]], undefined],
    [[['*/x/*', ['no-push']]], undefined],
    [[[1, []]], undefined],
    [undefined, 'no-push'],
    [undefined, ['no-push', 'x']],
  ];
  for (const [refs, ops] of unreadable) {
    t.match(
      failure(() => parsePolicy(refs, ops)),
      { check: 'policy', code: 'forbidden' },
      JSON.stringify([refs, ops]),
    );
  }
});
