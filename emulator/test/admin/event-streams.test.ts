import t from 'tap';
import { request } from 'undici';
import { MAX_STREAMS } from '../../admin/event-streams.js';
import { startAdmin } from './admin-service.js';

t.test('a port serves a limited number of event streams, and writes an event once for all of them', async (t) => {
  const { call, emulator, url, world } = await startAdmin(t, { org: ['demo', 'other'] });
  const open = (origin: string) => request(`${origin}/_emulator/requests/stream`);
  const streams = await Promise.all(Array.from({ length: MAX_STREAMS }, () => open(url)));
  t.equal(streams.filter(({ statusCode }) => statusCode === 200).length, MAX_STREAMS);
  const refused = await open(url);
  t.equal(refused.statusCode, 503);
  t.match(await refused.body.json(), {
    code: 'service_unavailable',
    detail:
      'This port already serves 100 event streams, the maximum. Close one, or list the requests with GET /_emulator/requests.',
  });
  const elsewhere = await open(emulator.orgs[1]!.baseUrl);
  t.equal(elsewhere.statusCode, 200, 'another port has streams of its own');
  const { journal } = world.state;
  const write = journal.write.bind(journal);
  let written = 0;
  journal.write = (record) => {
    written++;
    return write(record);
  };
  const received = streams.map(async ({ body }) => {
    let text = '';
    for await (const chunk of body) {
      text += String(chunk);
      if (text.includes('/second') && text.endsWith('\n\n')) return text;
    }
    return text;
  });
  await call('GET', '/first', { token: null });
  await call('GET', '/second', { token: null });
  const texts = await Promise.all(received);
  t.equal(new Set(texts).size, 1, 'all streams send the same bytes');
  t.match(texts[0], /^: requests\n\nid: 1\nevent: request\ndata: .*\/first.*\n\nid: 2\nevent: request\n.*\/second/);
  t.ok(written <= 4, `${written} entries were written for two ports`);
  // Open streams until the server accepts a new one. It does so after it has noticed that earlier readers disconnected.
  let again = await open(url);
  while (again.statusCode !== 200) {
    await again.body.dump();
    // Send a request. The server notices a disconnect only when it writes the event of a request to the stream.
    await call('GET', '/third', { token: null });
    again = await open(url);
  }
  again.body.destroy();
  elsewhere.body.destroy();
});
