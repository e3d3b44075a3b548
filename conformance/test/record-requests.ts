import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UNLIMITED } from '../http/limiter.js';
import { allRules, openScratch, type RuleResult, startTargetEmulator, type Target } from '../index.js';
import type { Rule } from '../rules/rule.js';
import type { RecordedRequests, RuleRequests, TargetPart } from '../run/budget.js';
import { runRules } from '../run/runner.js';
import { defined } from '../target/json.js';
import { packageRoot } from '../target/package-root.js';

type Fixtures = Map<string, Promise<unknown>>;

let runs = 0;

/** Runs rules without deleting their repositories. Returns the report, and the prefix of the repositories' names. */
async function check(target: Target, rules: readonly Rule[], fixtures: Fixtures = new Map()) {
  runs += 1;
  const prefix = `recorded-${runs}`;
  const report = await runRules(target, {
    rules,
    strict: false,
    limiter: UNLIMITED,
    width: 8,
    timeout: 15_000,
    signal: new AbortController().signal,
    prefix,
    scratch: await openScratch({ target }),
    keep: true,
    onRepository: () => Promise.resolve(),
    onResult: () => undefined,
    now: Date.now,
    fixtures,
  });
  return { ...report, prefix };
}

/** Returns the number of requests of a run with one rule. Includes the requests that delete the rule's repositories. */
async function countRequests(target: Target, rule: Rule, fixtures?: Fixtures): Promise<number> {
  const { requests, cleanup } = await check(target, [rule], fixtures);
  return requests + (cleanup?.made ?? 0);
}

/** Request counts of one rule, measured by two runs. */
interface Counted {
  /** Number of requests of the rule itself, without those of shared fixtures and lookups. */
  readonly own: number;
  /** Names of the shared fixtures (prepared repositories) and lookups that the rule needs. */
  readonly names: readonly string[];
  /** Number of requests for all these fixtures and lookups together. */
  readonly shared: number;
}

/**
 * Counts the requests of a rule in two runs. The second run reuses the fixtures (prepared repositories) of the first.
 * The difference is therefore the cost of the fixtures.
 */
async function count(target: Target, rule: Rule): Promise<Counted> {
  const fixtures: Fixtures = new Map();
  const whole = await countRequests(target, rule, fixtures);
  const names = [...fixtures.keys()];
  const own = names.length === 0 ? whole : await countRequests(target, rule, fixtures);
  // Replace the repository's name in the names of lookups, because the name differs between targets.
  return {
    own,
    names: names.map((name) => (target.repo === undefined ? name : name.replace(target.repo, 'the repository'))),
    shared: whole - own,
  };
}

/**
 * Computes the number of requests of each fixture and lookup. The counts are sums over all fixtures of a rule. If only
 * one of a rule's fixtures is unknown, its number is the sum minus the known ones. Repeats this until nothing new is
 * found.
 */
function countShared(counted: readonly Counted[]): Record<string, number> {
  const known: Record<string, number> = {};
  const open = new Set(counted.filter(({ names }) => names.length > 0));
  for (let before = -1; open.size !== before; ) {
    before = open.size;
    for (const one of open) {
      const unknown = one.names.filter((name) => known[name] === undefined);
      if (unknown.length > 1) continue;
      open.delete(one);
      const [name] = unknown;
      if (name === undefined) continue;
      known[name] = one.names.reduce((left, other) => left - (known[other] ?? 0), one.shared);
    }
  }
  return known;
}

/**
 * Returns the ids of the rules that run on `target` but are skipped or send no request on `without`. `without` is a
 * copy of the target that lacks a feature.
 */
async function skippedOnly(target: Target, without: Target): Promise<string[]> {
  const before = new Map((await check(target, rules)).rules.map((result) => [result.id, result]));
  const after = (await check(without, rules)).rules;
  const isActive = ({ requests = 0 }: RuleResult) => requests > 0;
  return after.flatMap((result) => {
    const whole = before.get(result.id);
    if (whole === undefined) return [];
    const isSkipped = result.verdict === 'skip' && whole.verdict !== 'skip';
    return isSkipped || (isActive(whole) && !isActive(result)) ? [result.id] : [];
  });
}

const rules = allRules().filter((rule) => rule.check !== undefined);
const emulator = await startTargetEmulator();
try {
  const target = { ...emulator.target, adminUrl: `${emulator.target.baseUrl}/_emulator` };
  // Run this rule to make the suite create its sample repository, which has a commit.
  const sample = await check(
    target,
    rules.filter(({ id }) => id === 'general.bearer.required'),
  );
  const reading = { ...target, write: false, repo: `${sample.prefix}/sample` };
  const { adminUrl: _admin, ...deployment } = target;
  const { restrictedKey: _restricted, ...withoutRestricted } = deployment;
  const { deletedKey: _deleted, ...withoutDeleted } = deployment;
  const { second: _second, ...withoutSecond } = deployment;
  const { repo: _repo, ...withoutRepository } = reading;
  const pairs: Readonly<Record<TargetPart, readonly [Target, Target]>> = {
    admin: [target, deployment],
    companion: [target, { ...target, companion: false }],
    deletedKey: [deployment, withoutDeleted],
    otherKeys: [deployment, { ...deployment, otherKeys: [] }],
    repository: [reading, withoutRepository],
    restrictedKey: [deployment, withoutRestricted],
    second: [deployment, withoutSecond],
  };
  const lacking = new Map<string, TargetPart[]>();
  for (const [part, [whole, without]] of Object.entries(pairs)) {
    for (const id of await skippedOnly(whole, without)) {
      lacking.set(id, [...(lacking.get(id) ?? []), part as TargetPart]);
    }
  }
  const counted: Counted[] = [];
  const lines: string[] = [];
  for (const rule of rules) {
    const writing = await count(target, rule);
    const isReading = rule.writes !== true;
    const read = isReading ? await count(reading, rule) : { own: 0, names: [], shared: 0 };
    counted.push(writing, read);
    const row: RuleRequests = defined({
      writing: writing.own || undefined,
      reading: read.own || undefined,
      fixtures: writing.names.length === 0 ? undefined : writing.names,
      lookups: read.names.length === 0 ? undefined : read.names,
      needs: lacking.get(rule.id),
    });
    lines.push(`${JSON.stringify(rule.id)}: ${JSON.stringify(row)}`);
  }
  const shared: RecordedRequests['shared'] = countShared(counted);
  const file = join(packageRoot(), 'fixtures', 'rule-requests.json');
  const text = `{"rules": {\n${lines.join(',\n')}\n},\n"shared": ${JSON.stringify(shared, undefined, 1)}}\n`;
  writeFileSync(file, text);
} finally {
  await emulator.close();
}
