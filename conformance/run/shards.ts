import type { Shard } from '../report/results.js';
import type { Rule } from '../rules/rule.js';
import { groupBy } from '../target/json.js';

/**
 * Divides rules by group. The rules of a group share a repository, so they must be in the same shard. The order of
 * groups, and of the rules in each, is kept.
 */
export function groupsOf(rules: readonly Rule[]): Rule[][] {
  return [...groupBy(rules, ({ group }) => group).values()];
}

/**
 * Returns the rules of one shard. A shard is one of `count` runs that divide the rules. A group is never divided, so
 * its fixtures are created only once.
 *
 * All shards should send about the same number of requests. Groups are therefore assigned in order of decreasing cost,
 * each to the shard with the lowest cost so far (greedy number partitioning). `cost` returns the number of requests of
 * a rule.
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

/**
 * Returns the items in a pseudorandom order. Equal seeds give equal orders (mulberry32 generator, Fisher-Yates
 * shuffle).
 */
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
