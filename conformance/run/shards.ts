import type { Shard } from '../report/results.js';
import type { Rule } from '../rules/rule.js';
import { groupBy } from '../target/json.js';

/** Groups rules by group; the order of groups and rules is kept. */
export function groupsOf(rules: readonly Rule[]): Rule[][] {
  return [...groupBy(rules, ({ group }) => group).values()];
}

/**
 * Returns the rules of one shard. Groups stay together, so that their fixtures are created once. The most expensive
 * group goes first, to the shard with the lowest cost, so that all shards send about the same number of requests.
 * `cost`: number of requests of a rule.
 */
export function rulesOfShard(rules: readonly Rule[], { index, count }: Shard, cost: (rule: Rule) => number): Rule[] {
  const priced = groupsOf(rules).map((group) => ({
    group,
    cost: group.reduce((sum, rule) => sum + cost(rule), 0),
  }));
  priced.sort((one, other) => other.cost - one.cost);
  const shards = Array.from({ length: count }, () => ({ cost: 0, rules: new Set<Rule>() }));
  for (const { group, cost } of priced) {
    const [min] = [...shards].sort((one, other) => one.cost - other.cost);
    if (min === undefined) break;
    min.cost += cost;
    for (const rule of group) min.rules.add(rule);
  }
  return rules.filter((rule) => shards[index - 1]?.rules.has(rule));
}

/** Shuffles by a seed; the same seed gives the same order (mulberry32 and Fisher-Yates). */
export function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const result = [...items];
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other] as Item, result[last] as Item];
  }
  return result;
}
