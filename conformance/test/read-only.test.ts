import t from 'tap';
import { UNLIMITED } from '../http/limiter.js';
import { run } from '../index.js';
import { allRules } from '../rules/registry.js';
import type { Rule } from '../rules/rule.js';
import { runRules } from '../run/runner.js';
import { expectRight } from './legal/expect-right.js';
import { isWrite, openGate } from './legal/gate.js';
import { seed } from './legal/seed.js';
import { startNamespace } from './shared-emulator.js';

const target = await startNamespace(t);

t.test('a run without --write sends only reads', async (t) => {
  await seed(target, 'given', 'trunk', { 'a/b.txt': 'given\n' }, { 'c.txt': 'more\n' });
  await using gate = await openGate({ ...target, write: false, repo: 'given' });
  const report = await run(gate.target);
  t.same(gate.refused, []);
  expectRight(t, report, 'read-only');
  t.ok(report.counts.pass > 200, `${report.counts.pass} rules pass`);
});

t.test('a read-only rule writes nothing even if it may', async (t) => {
  const writes = new Set<string>();
  const witness: Rule = {
    id: 'witness',
    section: 'Errors',
    group: 'witness',
    says: 'It sees every exchange.',
    level: 'MAY',
    reach: 'any',
    writes: false,
    watch: ({ rule, method, path }) => {
      // Ignore writes that create fixtures. A fixture is shared by several rules, so no rule of its own makes these
      // writes.
      if (isWrite(method, path) && !rule.startsWith('fixture ')) writes.add(`${rule}: ${method} ${path}`);
      return undefined;
    },
  };
  await runRules(target, {
    rules: [...allRules().filter((rule) => !rule.writes), witness],
    strict: false,
    limiter: UNLIMITED,
    width: 8,
    timeout: 15_000,
    signal: new AbortController().signal,
    prefix: 'read-only',
    onRepository: () => Promise.resolve(),
    onResult: () => undefined,
    now: Date.now,
  });
  t.same([...writes], []);
});
