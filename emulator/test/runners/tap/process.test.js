import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withEmulator } from 'repohost-emulator/tap';
import t from 'tap';

const emulator = withEmulator({ process: true });

t.test('Git clones synchronously', async (t) => {
  await emulator.repository('team/app').seed({ 'README.md': 'hello' });
  const folder = mkdtempSync(join(tmpdir(), 'clone-'));
  execFileSync('git', ['clone', '-q', await emulator.remote('team/app'), folder]);
  t.equal(readFileSync(join(folder, 'README.md'), 'utf8'), 'hello');
  rmSync(folder, { recursive: true });
  t.ok((await emulator.requests({ operation: 'gitUploadPack' })).length > 0);
});
