import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { startService } from '../service.js';

t.test('archives ignore .gitattributes, and blame ignores .mailmap', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  const files = {
    '.gitattributes': 'hidden.txt export-ignore\nversion.txt export-subst\n',
    '.mailmap': 'Other Name <other@example.com> <seed@localhost>\n',
    'hidden.txt': 'still here\n',
    'version.txt': '$Format:%H$\n',
  };
  await service.emulator.repository('team/app').seed(files);
  const { emulator } = service;
  const headers = {
    authorization: `Bearer ${await emulator.token({ repo: 'team/app', scopes: ['git:read'] })}`,
    'content-type': 'application/json',
  };
  const archive = await fetch(`${emulator.baseUrl}/api/v1/repos/archive`, { method: 'POST', headers, body: '{}' });
  const tar = gunzipSync(await archive.arrayBuffer()).toString();
  t.match(tar, 'still here');
  t.match(tar, '$Format:%H$');
  const blame = await fetch(`${emulator.baseUrl}/api/v1/repos/blame?path=version.txt`, { headers });
  const { lines } = (await blame.json()) as { lines: { author_name: string; author_email: string }[] };
  t.match(lines, [{ author_name: 'Repository Seed', author_email: 'seed@localhost' }]);
});
