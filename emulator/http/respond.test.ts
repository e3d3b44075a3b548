import t from 'tap';
import { DEFAULT_VARIANTS } from '../config/variants.js';
import { renderProblem } from './respond.js';

t.test('one error, in every dialect', async (t) => {
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
  t.same(
    render('error', problem('rate_limited', 'Too many.')).json,
    { error: 'Too many.' },
    'the tree limit is the operation’s own',
  );
});
