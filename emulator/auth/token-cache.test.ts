import t from 'tap';
import { type ProvenToken, TokenCache } from './token-cache.js';

t.test('the token cache is bounded and keeps what is used', async (t) => {
  const cache = new TokenCache<ProvenToken>(8);
  const proven = (name: string) => ({ key: name }) as unknown as ProvenToken;
  cache.set('kept', proven('kept'));
  for (let at = 0; at < 100; at++) {
    cache.set(`t${at}`, proven(`t${at}`));
    t.equal(cache.get('kept')?.key, 'kept' as never);
    t.ok(cache.size <= 8);
    t.ok(cache.get(`t${at}`));
  }
  t.equal(cache.get('t0'), undefined);
});
