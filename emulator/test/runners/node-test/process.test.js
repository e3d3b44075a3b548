import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { withEmulator } from 'repohost-emulator/node-test';

const emulator = withEmulator({ process: true });

test('Git clones synchronously', async () => {
  await emulator.repository('team/app').seed({ 'README.md': 'hello' });
  const folder = mkdtempSync(join(tmpdir(), 'clone-'));
  execFileSync('git', ['clone', '-q', await emulator.remote('team/app'), folder]);
  assert.equal(readFileSync(join(folder, 'README.md'), 'utf8'), 'hello');
  rmSync(folder, { recursive: true });
  assert.equal((await emulator.requests({ operation: 'gitUploadPack' })).length > 0, true);
});
