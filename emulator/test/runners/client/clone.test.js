import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { GitStorage } from '@pierre/storage';

const { EMULATOR_HTTPS_URL, EMULATOR_HTTPS_GIT_URL, EMULATOR_KEY_FILE, EMULATOR_ORG_NAME } = process.env;

const store = new GitStorage({
  name: EMULATOR_ORG_NAME,
  key: readFileSync(EMULATOR_KEY_FILE, 'utf8'),
  apiBaseUrl: EMULATOR_HTTPS_URL,
  storageBaseUrl: new URL(EMULATOR_HTTPS_GIT_URL).host,
});
const author = { name: 'Ada', email: 'ada@example.com' };

test('Git clones what the client committed', async () => {
  const repo = await store.createRepo({ id: 'team/app' });
  const commit = repo.createCommit({ targetBranch: 'main', commitMessage: 'First', author });
  await commit.addFileFromString('a.txt', 'hello\n').send();
  const folder = join(mkdtempSync(join(tmpdir(), 'clone-')), 'app');
  // The emulator runs in another process, so a synchronous command does not block it.
  execFileSync('git', ['clone', '-q', await repo.getRemoteURL(), folder]);
  assert.equal(readFileSync(join(folder, 'a.txt'), 'utf8'), 'hello\n');
});
