import t from 'tap';
import { isLoopback } from './loopback.js';

t.test('loopback names and addresses are recognized, and similar ones are not', async (t) => {
  for (const host of ['localhost', '::1', '[::1]', '127.0.0.1', '127.0.0.2', '127.255.255.255'])
    t.ok(isLoopback(host), host);
  for (const host of [
    '',
    '127.',
    '127.0.0.1.example',
    '127.example',
    '127.0.0.256',
    'x.localhost',
    '0.0.0.0',
    '::',
    '1',
  ])
    t.notOk(isLoopback(host), host);
});
