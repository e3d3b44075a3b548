import t from 'tap';
import { authorizationOf } from './credentials.js';
import { failure } from './test/failure.js';

t.test('the Authorization header may be sent once', async (t) => {
  t.equal(authorizationOf(['Host', 'x', 'AUTHORIZATION', 'Bearer a']), 'Bearer a');
  t.equal(authorizationOf(['Host', 'authorization']), undefined, 'a value is not a name');
  t.equal(authorizationOf([]), undefined);
  const repeated = failure(() => authorizationOf(['Authorization', 'Bearer a', 'authorization', 'Bearer a']));
  t.match(repeated, { status: 400, code: 'bad_request', check: 'repeated' });
});
