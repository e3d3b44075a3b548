import t from 'tap';
import { createSigner } from '../auth/tokens.js';
import { AssertionFailure } from '../check/outcomes.js';
import { RefusedWrites } from '../check/refused-writes.js';
import { RuleContext } from '../check/rule-context.js';
import { Variants } from '../check/variants.js';
import { Client } from '../http/client.js';
import { UNLIMITED } from '../http/limiter.js';
import { RunEnded } from '../http/no-answer.js';
import { Throttled } from '../http/throttling.js';
import { always, startTestServer, type TestServer } from '../test/test-server.js';
import { createGit } from './git-client.js';

function contextOn({ target }: TestServer): RuleContext {
  const sleep = () => Promise.resolve();
  const client = new Client({
    limiter: UNLIMITED,
    timeout: 5000,
    connections: 1,
    onExchange: () => undefined,
    sleep,
    signal: new AbortController().signal,
  });
  t.teardown(() => client.close());
  return new RuleContext(
    { id: 'x', group: 'x' },
    {
      target,
      client,
      signer: createSigner(target, Date.now),
      variants: new Variants(),
      refusedWrites: new RefusedWrites(),
      fixtures: new Map(),
      attempts: new Map(),
      brokenSteps: new Map(),
      prefix: 'x',
      uniqueName: () => 'x/n1',
      onRepository: () => Promise.resolve(),
      now: Date.now,
      sleep,
    },
  );
}

t.test('a fetch that is refused breaks the rule; one that is throttled, or cannot connect, does not', async (t) => {
  const refusing = await startTestServer(always(404, 'text/plain', 'no'));
  await t.rejects((await createGit(contextOn(refusing))).fetch('a/b'), AssertionFailure);
  await refusing.close();
  const throttling = await startTestServer(always(429, 'text/plain', 'no', { 'retry-after': '3600' }));
  await t.rejects((await createGit(contextOn(throttling))).fetch('a/b'), Throttled);
  await throttling.close();
  await t.rejects((await createGit(contextOn(throttling))).fetch('a/b'), RunEnded);
});
