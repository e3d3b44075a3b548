import { type Options, run, type Target } from '../index.js';
import type { Report } from '../report/results.js';

/** Returns the parts of a report that do not depend on whether one run or several runs checked the rules. */
export function verdictsOf({ rules, exit_code, variants, setup }: Report) {
  return {
    exit_code,
    variants,
    setup: setup?.map(({ name }) => name).sort(),
    rules: rules.map(({ id, verdict }) => `${id}: ${verdict}`),
  };
}

const SHARDS = 3;

export async function runInShards(target: Target, options: Options): Promise<Report[]> {
  const reports: Report[] = [];
  for (let index = 1; index <= SHARDS; index++) {
    reports.push(await run(target, { ...options, shard: { index, count: SHARDS } }));
  }
  return reports;
}
