const { execFileSync } = require('node:child_process');
const { mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { withEmulator } = require('repohost-emulator/jest');

const emulator = withEmulator({ process: true });

test('Git clones synchronously', async () => {
  await emulator.repository('team/app').seed({ 'README.md': 'hello' });
  const folder = mkdtempSync(join(tmpdir(), 'clone-'));
  execFileSync('git', ['clone', '-q', await emulator.remote('team/app'), folder]);
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('hello');
  rmSync(folder, { recursive: true });
  expect((await emulator.requests({ operation: 'gitUploadPack' })).length).toBeGreaterThan(0);
});
