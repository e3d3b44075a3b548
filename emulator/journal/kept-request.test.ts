import t from 'tap';
import { type RequestKind, RequestKinds } from './kept-request.js';
import { recordOf } from './test/record.js';

const kindOf = (given: Partial<RequestKind> = {}): RequestKind => ({ ...recordOf(1), ...given });

t.test('requests that are the same in everything are kept once', async (t) => {
  const { head, faults, token } = recordOf(1);
  const alike = { head, faults, token };
  const first = kindOf({ ...alike, why: ['one', 'two'] });
  const rows: readonly (readonly [isShared: boolean, given: Partial<RequestKind>])[] = [
    [true, { why: ['one', 'two'] }],
    [false, { why: ['one'] }],
    [false, { why: ['one', 'two', 'three'] }],
    [false, { why: ['two', 'one'] }],
    [false, { why: first.why, faults: [] }],
    [false, { why: first.why, path: '/other' }],
    [false, { why: first.why, stopped: 'scope' }],
  ];
  for (const [isShared, given] of rows) {
    const kinds = new RequestKinds();
    kinds.share(first);
    t.equal(kinds.share(kindOf({ ...alike, ...given })) === first, isShared, JSON.stringify(given));
  }
});
