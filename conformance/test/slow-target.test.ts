import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { AssertionFailure } from '../check/outcomes.js';
import { RuleContext } from '../check/rule-context.js';
import { Latency } from '../http/latency.js';
import { listenOnLoopback } from '../http/listen.js';
import { Stopwatch } from '../http/stopwatch.js';
import { run } from '../index.js';
import type { Target } from '../target/target.js';
import { contextsOf } from './new-context.js';
import { passThrough } from './pass-through.js';
import { startNamespace } from './shared-emulator.js';
import { targetAt } from './test-server.js';

t.setTimeout(180_000);

/** Starts a proxy that delays each request by `milliseconds`. */
async function delayed(t: Test, target: Target, milliseconds: number): Promise<Target> {
  const server = createServer(async (incoming, outgoing) => {
    await sleep(milliseconds);
    passThrough(target.baseUrl, incoming, outgoing);
    incoming.resume();
  });
  const baseUrl = `http://${await listenOnLoopback(server)}`;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...target, baseUrl, gitUrl: baseUrl, adminUrl: `${baseUrl}/_emulator` };
}

t.test('a rule with many requests gets the same verdict on a slow target', async (t) => {
  const target = await delayed(t, await startNamespace(t), 300);
  // The rule sends about 25 requests, which take 7 seconds in total. The time limit would be 4 seconds on a target with
  // low latency.
  const report = await run(target, { only: 'auth.repo-claim.org-read.repo-route', timeout: 1000 });
  t.match(report.rules, [{ verdict: 'pass' }]);
  t.equal(report.exit_code, 0);
});

t.test('time limits grow with the latency of the target', (t) => {
  t.equal(new Latency().scale(5000), 5000);
  t.equal(new Latency(20).scale(5000), 5000, 'and are never shorter');
  t.equal(new Latency(300).scale(5000), 15_000);
  const slower = new Latency(10);
  for (let count = 0; count < 200; count++) slower.add(1000);
  t.ok(slower.scale(5000) > 45_000, 'also during a run');
  const faster = new Latency(300);
  for (let count = 0; count < 200; count++) faster.add(1);
  t.equal(faster.scale(5000), 15_000, 'and never become shorter than at the beginning of a run');
  t.end();
});

t.test('a write may be visible later on a slow target', async (t) => {
  for (const [latency, limit] of [
    [0, 5],
    [2000, 100],
  ] as const) {
    let now = 0;
    const context = contextsOf(t, {
      latency: new Latency(latency),
      sleep: async (milliseconds) => {
        now += milliseconds;
      },
    })(targetAt('http://127.0.0.1:1'));
    const timed = new RuleContext(
      context.rule,
      context.run,
      Object.assign(context, { stopwatch: new Stopwatch(() => now) }),
    );
    const shownAfter = (milliseconds: number) => {
      const started = now;
      return timed.eventually(async () => now - started >= milliseconds, 'the write must be visible');
    };
    await shownAfter(limit * 900);
    const failure = new AssertionFailure(`the write must be visible, within ${limit} seconds`, true, false);
    await t.rejects(shownAfter(limit * 1200), failure);
  }
});
