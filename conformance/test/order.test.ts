import t from 'tap';
import { mergeReports, run } from '../index.js';
import { runInShards, verdictsOf } from './shards.js';
import { startTestServer } from './test-server.js';

t.setTimeout(300_000);

/**
 * Server that makes the same mistakes in every run. It refuses tokens with 401 or 403, lacks some routes, and closes
 * the connection on others. One operation with which the suite prepares a repository also fails.
 */
const wrong = await startTestServer((request, response) => {
  const { method = '', url = '', headers } = request;
  const [path = ''] = url.split('?', 1);
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (headers.authorization === undefined) return answer(path.includes('file') ? 403 : 401, { code: 'forbidden' });
    if (path.endsWith('/archive')) return request.socket.destroy();
    if (path.endsWith('/notes')) return answer(404, { code: 'route_not_found' });
    if (method === 'POST' && path === '/api/repos') return answer(201, { url: 'x' });
    if (path.endsWith('/commit-pack')) return answer(500, {});
    answer(200, { items: [], has_more: false });
  });
});
t.teardown(() => wrong.close());
const rate = Number.POSITIVE_INFINITY;
const only = 'auth,claim,scope,key,jwt,grep,archive,note,problem,err,commit,write,limit,rate,pack';

t.test('a wrong target gets the same verdicts in any order, from any number of workers, and in shards', async (t) => {
  for (const target of [wrong.target, { ...wrong.target, write: false, repo: 'app' }]) {
    const first = await run(target, { rate, only, width: 1 });
    t.equal(first.exit_code, 1);
    t.equal(first.counts.error, 0);
    t.ok(first.counts.fail > 20);
    for (const options of [{ width: 2 }, { width: 8 }, { width: 3, seed: 2 }]) {
      t.same(verdictsOf(await run(target, { rate, only, ...options })), verdictsOf(first), JSON.stringify(options));
    }
    const merged = mergeReports(await runInShards(target, { rate, only }));
    t.same(verdictsOf(merged), verdictsOf(first), 'in shards');
    t.same(merged.counts, first.counts);
  }
});
