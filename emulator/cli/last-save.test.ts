import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ended, spawnCli, untilReady } from '../test/cli-process.js';

t.test('a failed last save results in exit code 4 of start, stop and exec', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'last-save-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'kept');
  const damage = () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'in the way');
  };
  for (const end of ['SIGTERM', 'stop', 'none'] as const) {
    rmSync(folder, { recursive: true, force: true });
    const child = spawnCli(t, ['start', '--port=0', '--log=quiet', `--persist=${folder}`]);
    const { base_url: url } = await untilReady(child);
    const childEnd = ended(child);
    if (end !== 'none') damage();
    if (end === 'SIGTERM') child.kill('SIGTERM');
    else {
      const stop = spawnCli(t, ['stop', `--url=${url}`, '--json']);
      const isSaved = end === 'none';
      t.same(await ended(stop), [isSaved ? 0 : 4, null], stop.said.err);
      t.same(JSON.parse(stop.said.out), { url, stopped: true, ...(!isSaved && { saved: false }) });
      if (!isSaved) t.match(stop.said.err, /^The state could not be saved\. .*\n$/);
    }
    t.same(await childEnd, [end === 'none' ? 0 : 4, null], end);
    if (end !== 'none') t.match(child.said.err, /^[^\n]*cannot be written: [^\n]*\n$/);
  }
  for (const [script, code] of [
    [`rm -r '${folder}' && touch '${folder}'`, 4],
    [`rm -r '${folder}' && touch '${folder}'; exit 3`, 3],
    ['exit 0', 0],
  ] as const) {
    rmSync(folder, { recursive: true, force: true });
    const child = spawnCli(t, ['exec', '--log=quiet', `--persist=${folder}`, '--', 'sh', '-c', script]);
    t.same(await ended(child), [code, null], script);
  }
});
