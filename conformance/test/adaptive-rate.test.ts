import { createServer } from 'node:http';
import t from 'tap';
import { listenOnLoopback } from '../http/listen.js';
import { type Budget, run } from '../index.js';
import { passThrough } from './pass-through.js';
import { startNamespace } from './shared-emulator.js';

const { adminUrl: _admin, ...target } = await startNamespace(t);
let headers: Readonly<Record<string, string>> = {};
const server = createServer((incoming, outgoing) => {
  if (incoming.url?.startsWith('/_emulator')) {
    incoming.resume();
    outgoing.writeHead(404).end();
    return;
  }
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
  passThrough(target.baseUrl, incoming, outgoing);
});
const baseUrl = `http://${await listenOnLoopback(server)}`;
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});

/**
 * Runs a few rules against the deployment. Returns the estimate that the run announced (`Budget`), and the actual
 * number of requests per second.
 */
async function measure(rate?: number) {
  let budget: Budget | undefined;
  let started = 0;
  const { requests } = await run(
    { ...target, baseUrl, gitUrl: baseUrl },
    {
      only: 'commit.get.404.commit,commit.get.route',
      ...(rate === undefined ? {} : { rate }),
      onBudget: (one) => {
        budget = one;
        started = performance.now();
      },
    },
  );
  return { budget, perSecond: (requests / (performance.now() - started)) * 1000 };
}

t.test('without --rate, a run sends as many requests as the RateLimit headers of the target allow', async (t) => {
  const slow = await measure();
  t.match(slow.budget, { rate: 5, adaptive: true });
  t.ok(slow.perSecond < 7, `${slow.perSecond} per second without a header`);
  headers = { ratelimit: '"default";r=1000;t=10' };
  const quick = await measure();
  t.ok(quick.perSecond > 8, `${quick.perSecond} per second with a header`);
  const fixed = await measure(5);
  t.equal(fixed.budget?.adaptive, undefined);
  t.ok(fixed.perSecond < 7, `${fixed.perSecond} per second with --rate`);
});
