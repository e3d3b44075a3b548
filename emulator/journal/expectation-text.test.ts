import t from 'tap';
import { firingBounds } from './bounds.js';
import { expectationText, firingText } from './expectation-text.js';
import type { RequestExpectation } from './expectations.js';

t.test('expectations about requests in words', async (t) => {
  const match = { operation: 'commitPack', status: 201 };
  const cases: readonly (readonly [RequestExpectation, string])[] = [
    [{ match, atLeast: 2 }, 'at least 2 requests of commitPack with status 201'],
    [{ match }, 'at least 1 request of commitPack with status 201'],
    [{ match, count: 1 }, 'exactly 1 request of commitPack with status 201'],
    [{ match, count: 11 }, 'exactly 11 requests of commitPack with status 201'],
    [{ match, count: 0 }, 'no requests of commitPack with status 201'],
    [{ match, never: true }, 'no requests of commitPack with status 201'],
    [{ match, atMost: 1 }, 'at most 1 request of commitPack with status 201'],
    [{ match, atLeast: 1, atMost: 3 }, '1 to 3 requests of commitPack with status 201'],
    [{ match: {} }, 'at least 1 request'],
    [{ match, order: 2 }, 'a request of commitPack with status 201, at place 2 of the sequence'],
    [
      { match: { code: 'conflict' }, count: 3, order: 1 },
      'exactly 3 requests with code conflict, at place 1 of the sequence',
    ],
    [
      { match: { status: [401, '5xx'], operation: ['getRepository', 'git*'] } },
      'at least 1 request of getRepository or git* with status 401 or 5xx',
    ],
    [
      { match: { path: '/x' }, minGap: 'PT1.5S' },
      'at least 1 request to /x, each at least PT1.5S after the previous response',
    ],
    [{ match: {}, minGap: 'retry-after' }, 'at least 1 request, each not before the time in Retry-After'],
    [
      { match: { fault: '*', failed: true, git: { command: 'push', ref: 'refs/heads/main' } }, never: true },
      'no requests with Git command push with ref refs/heads/main that a fault affected that failed',
    ],
    [
      { match: { fault: 'fault-1', failed: false, subject: 'ada', repository: 'app', method: 'POST' }, never: true },
      'no requests with method POST for the repository app by ada that the fault fault-1 affected that did not fail',
    ],
  ];
  for (const [expectation, text] of cases) t.equal(expectationText(expectation), text);
});

t.test('expected firings of a fault in words', async (t) => {
  for (const [expected, text] of [
    [3, 'the fault fires exactly 3 times'],
    [1, 'the fault fires exactly once'],
    [21, 'the fault fires exactly 21 times'],
    [0, 'the fault does not fire'],
    [{ min: 1 }, 'the fault fires at least once'],
    [{ min: 2 }, 'the fault fires at least 2 times'],
    [{ max: 1 }, 'the fault fires at most once'],
    [{ min: 1, max: 2 }, 'the fault fires 1 to 2 times'],
  ] as const)
    t.equal(firingText(firingBounds(expected)), text);
  t.equal(firingText({ min: 2, max: 2 }, 'the fault fault-1'), 'the fault fault-1 fires exactly 2 times');
});
