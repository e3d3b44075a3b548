import t from 'tap';
import { request } from 'undici';
import { startService } from './service.js';

const PATHS = ['/_emulator/health', '/_emulator/version', '/_emulator/openapi.json', '/_emulator/webhooks/outbox'];

t.test('the admin routes answer without a token, and not to pages in a browser', async (t) => {
  const { emulator, url, call } = await startService();
  t.teardown(() => emulator.close());
  const ask = async (path: string, headers: Record<string, string> = {}, method: 'GET' | 'POST' = 'GET') => {
    const { statusCode, body, headers: answered } = await request(url + path, { method, headers });
    return { status: statusCode, text: await body.text(), allow: answered.allow };
  };
  for (const path of PATHS) {
    t.equal((await ask(path)).status, 200, path);
    t.equal((await ask(path, { host: 'evil.example' })).status, 403, `${path} by a name that was led here`);
    t.equal((await ask(path, { host: 'localhost.' })).status, 200, `${path} by a loopback name`);
    t.equal((await ask(path, { origin: 'http://evil.example' })).status, 403, `${path} for a page`);
    t.equal((await ask(path, { 'sec-fetch-site': 'cross-site' })).status, 403, `${path} from another site`);
    t.match(await ask(path, {}, 'POST'), { status: 405, allow: /GET/ }, `${path} by another method`);
  }
  for (const target of ['/_emulator/version#x', '/_emulator\\version', '//_emulator/version']) {
    const { status, json } = await call('GET', target, { token: null });
    t.match({ status, json }, { status: 400, json: { code: 'bad_request' } }, `${target} is no other name of a route`);
  }
  t.match(JSON.parse((await ask('/_emulator/health')).text), { emulator: true, organization: 'demo' });
  t.match(JSON.parse((await ask('/_emulator/nothing')).text), { code: 'route_not_found' });
});
