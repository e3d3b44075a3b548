import t from 'tap';
import { AssertionFailure } from '../check/outcomes.js';
import { RunEnded } from '../http/no-response.js';
import { Throttled } from '../http/throttling.js';
import { contextsOf } from '../test/new-context.js';
import { always, startTestServer, type TestServer } from '../test/test-server.js';
import { createGit } from './git-client.js';

const contextOf = contextsOf(t, { sleep: () => Promise.resolve() });
const contextOn = ({ target }: TestServer) => contextOf(target);

t.test('a refused fetch breaks the rule; a throttled fetch, or one without a connection, does not', async (t) => {
  const refusing = await startTestServer(always(404, 'text/plain', 'no'));
  await t.rejects((await createGit(contextOn(refusing))).fetch('a/b'), AssertionFailure);
  await refusing.close();
  const throttling = await startTestServer(always(429, 'text/plain', 'no', { 'retry-after': '3600' }));
  await t.rejects((await createGit(contextOn(throttling))).fetch('a/b'), Throttled);
  await throttling.close();
  await t.rejects((await createGit(contextOn(throttling))).fetch('a/b'), RunEnded);
});
