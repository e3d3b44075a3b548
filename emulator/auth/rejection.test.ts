import t from 'tap';
import { Rejection } from './rejection.js';

t.test('a rejection names its check in a sentence', async (t) => {
  t.equal(new Rejection('expired', 'exp has passed').detail, 'The token is invalid or expired: exp has passed.');
  t.equal(new Rejection('tenant', 'The credential is not valid for this tenant').isInvalidToken, false);
});
