import t from 'tap';
import type { OperationId } from '../config/operation-ids.js';
import { type Operation, operationsOf } from '../operation/operation.js';
import { json } from './reply.js';
import { type MethodNotAllowed, Router } from './router.js';
import { codeOf } from './test/code-of.js';

const row = (id: OperationId, ...routes: Operation['routes']): Operation => ({
  id,
  ...operationsOf('Files')({
    summary: id,
    routes,
    scopes: [],
    subject: 'repository',
    effect: 'read',
    replies: () => ({}),
    errors: [],
    handle: () => json(200, {}),
  }),
});

t.test('routes match by segment, and a segment is decoded exactly once', async (t) => {
  const router = new Router([
    row('getRepository', { method: 'GET', path: '/api/repos/{repo_name}' }),
    row('deleteRepository', { method: 'DELETE', path: '/api/repos/{repo_name}' }),
    row('readFile', { method: 'GET', path: '/api/repos/{repo_name}/file' }),
    row('listRepositories', { method: 'GET', path: '/api/repos' }),
  ]);
  t.match(router.match('GET', '/api/repos/a%2Fb'), {
    operation: { id: 'getRepository' },
    params: { repo_name: 'a/b' },
  });
  t.match(router.match('GET', '/api/repos/a%252Fb'), { params: { repo_name: 'a%2Fb' } });
  t.match(router.match('HEAD', '/api/repos/x/file'), { operation: { id: 'readFile' } });
  t.match(router.match('GET', '/api/repos/__proto__'), { params: { repo_name: '__proto__' } });
  for (const path of [
    '/api/repos/a/b',
    '/api/repos/',
    '/api/repos//file',
    '/api/repos/x/file/',
    '/API/repos',
    '/',
    '/api',
  ]) {
    t.equal(
      codeOf(() => router.match('GET', path)),
      'route_not_found',
      path,
    );
  }
  for (const path of ['/api/repos/%zz', '/api/repos/%ff', '/api/repos/%c0%af', '/api/repos/a%00']) {
    t.equal(
      codeOf(() => router.match('GET', path)),
      'bad_request',
      path,
    );
  }
  try {
    router.match('POST', '/api/repos/x');
    t.fail('POST is not a method of the route');
  } catch (error) {
    t.equal((error as MethodNotAllowed).allow, 'GET, HEAD, DELETE');
  }
});

t.test('HEAD is allowed where GET is allowed, unless the operation excludes it', async (t) => {
  const path = '/api/repos';
  const post = row('createRepository', { method: 'POST', path });
  const list = row('listRepositories', { method: 'GET', path });
  const headless = { ...list, head: false };
  const allowed = (operations: Operation[]) => {
    const router = new Router(operations);
    const refusals = ['GET', 'HEAD', 'POST', 'PUT'].map((method) => {
      try {
        return router.match(method, path).operation.id;
      } catch (error) {
        return (error as MethodNotAllowed).allow;
      }
    });
    return [router.allow, ...refusals];
  };
  const [created, listed] = [post.id, list.id];
  t.same(allowed([post]), ['POST', 'POST', 'POST', created, 'POST']);
  t.same(allowed([post, list]), ['GET, HEAD, POST', listed, listed, created, 'POST, GET, HEAD']);
  t.same(allowed([headless, post]), ['GET, POST', listed, 'GET, POST', created, 'GET, POST']);
  t.same(allowed([headless]), ['GET', listed, 'GET', 'GET', 'GET']);
  t.throws(() => new Router([list, list]), /routed twice/);
});
