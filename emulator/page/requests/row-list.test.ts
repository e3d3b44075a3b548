import t from 'tap';
import { RowList } from './row-list.js';

t.test('the list keeps the last rows by number', async (t) => {
  const list = new RowList<string>(3);
  t.match([list.total, list.first, list.dropped, list.get(0)], [0, 0, 0, undefined]);
  for (const row of ['a', 'b', 'c', 'd', 'e']) list.add(row);
  t.match([list.total, list.first, list.dropped], [5, 2, 2]);
  t.same(
    [0, 1, 2, 3, 4, 5].map((number) => list.get(number)),
    [undefined, undefined, 'c', 'd', 'e', undefined],
  );
  t.equal(
    list.find((row) => row > 'c'),
    4,
    'the newest',
  );
  t.equal(
    list.find((row) => row === 'a'),
    undefined,
  );
});

t.test('numbering continues after the list is cleared', async (t) => {
  const list = new RowList<string>(3);
  for (const row of ['a', 'b', 'c', 'd']) list.add(row);
  list.clear();
  t.match([list.total, list.first, list.dropped, list.get(3)], [4, 4, 0, undefined]);
  list.add('e');
  t.equal(list.get(4), 'e');
  for (const row of ['f', 'g', 'h']) list.add(row);
  t.match([list.first, list.dropped, list.get(5)], [5, 1, 'f']);
});

t.test('older rows are inserted before the first until the list is full', async (t) => {
  const list = new RowList<string>(3);
  t.ok(list.addOlder('b'));
  list.add('c');
  t.ok(list.addOlder('a'));
  t.notOk(list.addOlder('0'));
  t.match([list.total, list.first, list.dropped], [1, -2, 0]);
  t.same(
    [-3, -2, -1, 0, 1].map((number) => list.get(number)),
    [undefined, 'a', 'b', 'c', undefined],
  );
  list.add('d');
  t.match([list.total, list.first, list.dropped, list.get(-2), list.get(-1)], [2, -1, 1, undefined, 'b']);
  list.clear();
  t.notOk(list.addOlder('a'), 'what was cleared does not come back');
  t.equal(list.total - list.first, 0);
});

t.test('rows are inserted into a sorted list, which drops the lowest when it is full', async (t) => {
  const list = new RowList<string>(3);
  const rows = () => Array.from({ length: list.total - list.first }, (_, at) => list.get(list.first + at));
  const keyOf = (row: string) => Number(row[0]);
  for (const row of ['5', '3', '5b']) list.insert(row, keyOf);
  t.same(rows(), ['3', '5', '5b']);
  t.equal(list.isFull, true);
  list.insert('4', keyOf);
  t.same(rows(), ['4', '5', '5b']);
  list.insert('1', keyOf);
  t.same(rows(), ['4', '5', '5b'], 'the new row is the lowest');
  t.match([list.total, list.first, list.dropped], [4, 1, 2]);
  t.same(list.takeAll(), ['4', '5', '5b']);
  t.match([list.total, list.first], [4, 4]);
});

t.test('a slice has only the rows that are still in the list', (t) => {
  const list = new RowList<string>(3);
  for (const row of ['a', 'b', 'c', 'd']) list.add(row);
  t.same(list.slice(0, 4), ['b', 'c', 'd'], 'a was dropped');
  t.same(list.slice(2, 3), ['c']);
  t.same(list.slice(0, 1), []);
  t.same(list.slice(3, 9), ['d'], 'no row beyond the newest');
  list.takeAll();
  t.same(list.slice(0, 4), [], 'a cleared list');
  t.end();
});
