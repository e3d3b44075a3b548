import t from 'tap';
import { PIECE_COST, runSync } from '../../schedule/steps.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { GeneratedHistory } from '../test/generated-history.js';
import { inDateOrder } from './date-order.js';
import { History } from './history.js';

for (const shape of [
  { seed: 11, commits: 150, skew: 0 },
  { seed: 12, commits: 150, skew: 60 },
  { seed: 13, commits: 150, skew: 4000 },
]) {
  t.test(`commits come as git log --date-order has them (clocks off by up to ${shape.skew} s)`, async (t) => {
    using generated = new GeneratedHistory(shape);
    const history = new History(generated.objects);
    await history.extend(generated.commits, unlimited());
    const { graph } = history;
    for (let round = 0; round < 30; round++) {
      const tips = round === 0 ? generated.commits : generated.pickSome(6);
      const { order, heads } = runSync(
        inDateOrder(
          graph,
          tips.map((tip) => graph.locate(tip)),
        ),
      );
      const oids = Array.from(order, (position) => graph.oidOf(position));
      t.same(oids, generated.lines('rev-list', '--date-order', ...tips), `${tips.length} tips`);
      const again = runSync(inDateOrder(graph, heads));
      t.same(again.order, order, 'the heads say what the order is');
    }
  });
}

t.test('nothing comes of nothing', (t) => {
  using generated = new GeneratedHistory({ seed: 1, commits: 3, skew: 0 });
  t.same(runSync(inDateOrder(new History(generated.objects).graph, [])), { order: new Int32Array(0), heads: [] });
  t.end();
});

t.test('it yields often enough', async (t) => {
  using generated = new GeneratedHistory({ seed: 14, commits: 600, skew: 10 });
  const history = new History(generated.objects);
  await history.extend(generated.commits, unlimited());
  const { graph } = history;
  const steps = [
    ...inDateOrder(
      graph,
      generated.commits.map((oid) => graph.locate(oid)),
    ),
  ];
  t.ok(steps.length >= 10, `${steps.length} steps`);
  t.ok(steps.every((units) => units <= PIECE_COST * 4));
});
