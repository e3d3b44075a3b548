import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withEmulator } from 'repohost-emulator/vitest';
import { expect, test } from 'vitest';

const emulator = withEmulator({ process: true });

test('Git clones synchronously', async () => {
  await emulator.repository('team/app').seed({ 'README.md': 'hello' });
  const folder = mkdtempSync(join(tmpdir(), 'clone-'));
  execFileSync('git', ['clone', '-q', await emulator.remote('team/app'), folder]);
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('hello');
  rmSync(folder, { recursive: true });
  expect((await emulator.requests({ operation: 'gitUploadPack' })).length).toBeGreaterThan(0);
});
