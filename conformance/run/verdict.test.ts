import t from 'tap';
import { AssertionFailure, Skip } from '../check/outcomes.js';
import { RuleContext } from '../check/rule-context.js';
import type { RunContext } from '../check/run-context.js';
import type { Exchange } from '../http/exchange.js';
import { defineRules, type Reach } from '../rules/rule.js';
import { targetAt } from '../test/test-server.js';
import { verdictOfReturned, verdictOfThrown } from './verdict.js';
import { Watcher } from './watcher.js';

function exchangeOf(injected: boolean): Exchange {
  return {
    rule: 'rule',
    method: 'GET',
    origin: 'http://127.0.0.1:1',
    path: '/x',
    requestHeaders: {},
    status: 500,
    headers: injected ? { 'x-emulator-fault-fired': 'flt-1' } : {},
    body: Buffer.alloc(0),
    milliseconds: 1,
    injected,
    git: false,
  };
}

function ruleOf(reach: Reach) {
  const [rule] = defineRules('Errors', 'g', [{ id: 'rule', says: 'It holds.', reach, watch: () => true }]);
  if (rule === undefined) throw new Error('a row makes a rule');
  return rule;
}

/**
 * Returns a rule, and a context in which the rule has received the responses `seen`. The rule's check has not
 * necessarily examined them.
 */
function contextOf(reach: Reach, seen: readonly Exchange[]) {
  const rule = ruleOf(reach);
  const t = new RuleContext(rule, { target: targetAt('http://127.0.0.1:1') } as RunContext);
  t.exchanges.push(...seen);
  return { rule, t };
}

const both = [exchangeOf(false), exchangeOf(true)];

t.test('a rule with at least one injected response has the evidence "injected"', async (t) => {
  const broken = new AssertionFailure('it holds', 1, 2);
  for (const [seen, evidence] of [
    [[], 'observed'],
    [[exchangeOf(false)], 'observed'],
    [both, 'injected'],
  ] as const) {
    const { rule, t: context } = contextOf('emulator', seen);
    t.match(verdictOfReturned(rule, context), { verdict: 'pass', evidence });
    t.match(verdictOfThrown(rule, context, broken), { verdict: 'fail', evidence });
    t.notHas(verdictOfThrown(rule, context, new Skip('not here')), { evidence: String });
  }
});

t.test('an injected response is an error for any other rule, even if the check ignored it', async (t) => {
  for (const reach of ['any', 'needs-setup'] as const) {
    const { rule, t: context } = contextOf(reach, both);
    const error = { verdict: 'error', reason: /^InjectedEvidence: the fault flt-1 answered GET \/x/ };
    for (const verdict of [
      verdictOfReturned(rule, context),
      verdictOfThrown(rule, context, new AssertionFailure('it holds', 1, 2)),
    ]) {
      t.match(verdict, error);
      t.notOk(verdict.evidence);
    }
    t.throws(() => context.take(exchangeOf(true)), { name: 'InjectedEvidence' });
    t.match(verdictOfReturned(rule, contextOf(reach, []).t), { verdict: 'pass', evidence: 'observed' });
  }
});

t.test('rules that watch all responses see injected ones only if their reach is emulator', async (t) => {
  for (const [reach, checked, evidence] of [
    ['any', 1, 'observed'],
    ['needs-setup', 1, 'observed'],
    ['emulator', 2, 'injected'],
  ] as const) {
    const watcher = new Watcher([ruleOf(reach)]);
    for (const exchange of both) watcher.see(exchange);
    t.match(watcher.of('rule'), { checked, evidence, broken: undefined }, reach);
  }
});
