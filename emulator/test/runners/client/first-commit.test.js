import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { GitStorage } from '@pierre/storage';
import { startEmulator } from 'repohost-emulator';

const emulator = await startEmulator({ port: 0 });
after(() => emulator.close());

const store = new GitStorage({
  name: emulator.org,
  key: readFileSync(emulator.keyFile, 'utf8'),
  apiBaseUrl: emulator.baseUrl,
  storageBaseUrl: emulator.gitHost,
});
const author = { name: 'Ada', email: 'ada@example.com' };

test('a commit is listed', async () => {
  const repo = await store.createRepo({ id: 'team/app' });
  const commit = repo.createCommit({ targetBranch: 'main', commitMessage: 'First', author });
  await commit.addFileFromString('a.txt', 'hello\n').send();
  const { commits } = await repo.listCommits();
  assert.deepEqual(
    commits.map(({ message }) => message.trim()),
    ['First'],
  );
});

test('a rate limit rejects the call', async () => {
  emulator.fault('rate_limited*1;match.op=listRepositories');
  await assert.rejects(store.listRepos());
});
