import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { createSigner } from '../auth/tokens.js';
import { RefusedWrites } from '../check/refused-writes.js';
import { RuleContext } from '../check/rule-context.js';
import { Variants } from '../check/variants.js';
import { Client } from '../http/client.js';
import { Latency } from '../http/latency.js';
import { UNLIMITED } from '../http/limiter.js';
import type { Target } from '../target/target.js';

interface ContextOptions {
  readonly onExchange?: () => void;
  readonly sleep?: (milliseconds: number) => Promise<void>;
  readonly latency?: Latency;
}

/**
 * Returns a function that creates contexts of rules without a run, to test functions that rules call. A context
 * contains the target and an HTTP client, which all contexts share.
 */
export function contextsOf(t: Pick<Test, 'teardown'>, options: ContextOptions = {}): (target: Target) => RuleContext {
  const wait = options.sleep ?? ((milliseconds) => sleep(milliseconds));
  const client = new Client({
    limiter: UNLIMITED,
    timeout: 15_000,
    connections: 2,
    onExchange: () => options.onExchange?.(),
    sleep: wait,
    signal: new AbortController().signal,
  });
  t.teardown(() => client.close());
  let names = 0;
  return (target) =>
    new RuleContext(
      { id: 'x', group: 'x', reach: 'emulator' },
      {
        target,
        gitClient: 'js',
        client,
        latency: options.latency ?? new Latency(),
        signer: createSigner(target, Date.now),
        variants: new Variants(),
        refusedWrites: new RefusedWrites(),
        fixtures: new Map(),
        attempts: new Map(),
        brokenSteps: new Map(),
        created: {},
        prefix: 'test',
        uniqueName: () => `test/n${++names}`,
        onRepository: () => Promise.resolve(),
        now: Date.now,
        sleep: wait,
      },
    );
}
