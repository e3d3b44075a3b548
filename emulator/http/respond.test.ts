import t from 'tap';
import { DEFAULT_VARIANTS, type Variants } from '../config/variants.js';
import type { Problem } from './problem.js';
import { renderProblem } from './respond.js';

t.test('an error is rendered in every dialect', async (t) => {
  const { problem } = await import('./problem.js');
  const refusal = problem('conflict', 'It moved.', { result: { commit: null, result: { success: false } } });
  const render = (dialect: 'problem' | 'error' | 'result' | 'git', error = refusal) =>
    renderProblem(error, { dialect, path: '/api/x', variants: DEFAULT_VARIANTS, forgePrefix: 'forge' });
  t.match(render('problem'), {
    status: 409,
    json: {
      type: 'about:blank',
      title: 'Conflict',
      status: 409,
      detail: 'It moved.',
      error: 'It moved.',
      instance: '/api/x',
      code: 'conflict',
    },
    headers: { 'content-type': 'application/problem+json' },
  });
  t.same(render('error').json, { error: 'It moved.' });
  t.same(render('result').json, { commit: null, result: { success: false } });
  t.equal(Buffer.from(render('git').bytes!).toString(), 'It moved.\n');
  t.match(
    render('result', problem('forbidden', 'No.')).json,
    { code: 'forbidden' },
    'gateway rejections stay problem details',
  );
  t.match(render('result', problem('bad_request', 'No.')).json, { code: 'bad_request' });
  const throttled = problem('rate_limited', 'Wait.', { headers: { 'retry-after': '1' } });
  t.match(render('error', throttled).json, { code: 'rate_limited' }, 'throttling precedes routing');
  t.match(render('error', problem('route_not_found', 'No route.')).json, { code: 'route_not_found' });
  t.same(
    render('error', problem('rate_limited', 'Too many.')).json,
    { error: 'Too many.' },
    'the tree limit is the operation’s own',
  );
});

t.test('errors of file metadata are problem details if the variant says so', async (t) => {
  const { problem } = await import('./problem.js');
  const missing = problem('ref_not_found', 'There is none.');
  for (const [fileMetadataErrors, type] of [
    ['error-only', undefined],
    ['problem', 'application/problem+json'],
  ] as const) {
    const variants = { ...DEFAULT_VARIANTS, fileMetadataErrors };
    const reply = renderProblem(missing, { dialect: 'error', path: '/', variants, forgePrefix: 'forge' });
    t.equal(reply.headers?.['content-type'], type, fileMetadataErrors);
    t.match(reply.json, { error: 'There is none.' });
  }
});

t.test('a failed write responds with its result if the variant says so', async (t) => {
  const { problem } = await import('./problem.js');
  const result = { commit: null, result: { success: false } };
  const shown = (dialect: 'problem' | 'result', writeFailureBody: Variants['writeFailureBody'], error: Problem) => {
    const variants = { ...DEFAULT_VARIANTS, writeFailureBody };
    const { json } = renderProblem(error, { dialect, path: '/', variants, forgePrefix: 'forge' });
    return Object.hasOwn(json as object, 'type') ? 'problem' : 'result';
  };
  const moved = problem('conflict', 'It moved.', { result });
  t.equal(shown('result', 'restore-only', moved), 'result');
  t.equal(shown('problem', 'restore-only', moved), 'problem');
  t.equal(shown('problem', 'all', moved), 'result');
  t.equal(shown('result', 'problem', moved), 'problem');
  for (const code of [
    'unauthorized',
    'forbidden',
    'authentication_unavailable',
    'insufficient_scope',
    'rate_limited',
    'repo_claim_missing',
    'route_not_found',
  ] as const) {
    t.equal(shown('result', 'all', problem(code, 'No.', { result })), 'problem', `${code} is refused before any write`);
  }
  t.equal(shown('result', 'all', problem('bad_request', 'No.', { result })), 'result');
  t.equal(
    shown('result', 'all', problem('conflict', 'No.')),
    'problem',
    'a problem without a result is shown as problem details',
  );
});

t.test('a Git LFS error has a message, the request id, and LFS-Authenticate', async (t) => {
  const { problem } = await import('./problem.js');
  const context = {
    dialect: 'lfs',
    path: '/',
    requestId: 'req-1',
    variants: DEFAULT_VARIANTS,
    forgePrefix: 'forge',
  } as const;
  const refusal = problem('unauthorized', 'Who are you?', { headers: { 'www-authenticate': 'Basic realm="Git"' } });
  const { status, json, headers } = renderProblem(refusal, context);
  t.equal(status, 401);
  t.match(json, { message: 'Who are you?', documentation_url: /^https:/, request_id: 'req-1' });
  t.same(headers, {
    'www-authenticate': 'Basic realm="Git"',
    'lfs-authenticate': 'Basic realm="Git"',
    'content-type': 'application/vnd.git-lfs+json',
  });
  const { requestId: _, ...rest } = context;
  const lock = { id: '1' };
  const clash = renderProblem(problem('conflict', 'It is locked.', { extra: { lock } }), rest);
  t.match(clash.json, { message: 'It is locked.', lock });
  t.notOk(Object.hasOwn(clash.json as object, 'request_id'));
  t.same(clash.headers, { 'content-type': 'application/vnd.git-lfs+json' });
});
