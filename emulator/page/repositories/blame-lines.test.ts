import t from 'tap';
import { AGES, blameLines } from './blame-lines.js';

const commit = (oid: string, committed_at: string) => ({
  oid,
  subject: oid,
  author: 'Ada',
  author_email: 'a@x',
  authored_at: committed_at,
  committed_at,
});
const range = (line: number, lines: number, of: string) => ({
  line,
  lines,
  commit: of,
  original_line: line,
  original_path: 'a',
});

t.test('every line has its commit and an age relative to the commits of the file', async (t) => {
  const lines = blameLines({
    ranges: [range(1, 2, 'new'), range(3, 1, 'old'), range(4, 1, 'middle')],
    commits: [
      commit('new', '2026-03-01T00:00:00+02:00'),
      commit('old', '2020-01-01T00:00:00Z'),
      commit('middle', '2026-02-28T23:00:00-05:00'),
    ],
  });
  t.same(
    lines.map((line) => [line?.commit.oid, line?.isFirst, line?.age]),
    [
      ['new', true, 4],
      ['new', false, 4],
      ['old', true, 0],
      ['middle', true, AGES - 1],
    ],
  );
});

t.test('all lines of a file with one commit have the same age; an empty file has no lines', async (t) => {
  const lines = blameLines({ ranges: [range(1, 1, 'a')], commits: [commit('a', '2026-01-01T00:00:00Z')] });
  t.equal(lines[0]?.age, AGES - 1);
  t.same(blameLines({ ranges: [], commits: [] }), []);
});
