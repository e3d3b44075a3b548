import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitStorage } from '@pierre/storage';

const { EMULATOR_KEY_FILE, EMULATOR_ORG_NAME } = process.env;
const author = { name: 'Ada', email: 'ada@example.com' };

/**
 * Uses the published client to create a repository, commit, list and restore, and clones it with unmodified Git.
 * `hosts` replaces the hosts that are built into the client. `adapt` changes the URL of the remote before the clone.
 */
export async function story(hosts, adapt = (remote) => remote) {
  const store = new GitStorage({ name: EMULATOR_ORG_NAME, key: readFileSync(EMULATOR_KEY_FILE, 'utf8'), ...hosts });
  const repo = await store.createRepo({ id: 'team/app' });
  const commit = (commitMessage, text) =>
    repo.createCommit({ targetBranch: 'main', commitMessage, author }).addFileFromString('a.txt', text).send();
  const first = await commit('First', 'one\n');
  await commit('Second', 'two\n');
  const { commits } = await repo.listCommits();
  assert.deepEqual(
    commits.map(({ message }) => message.trim()),
    ['Second', 'First'],
  );
  await repo.restoreCommit({ targetBranch: 'main', targetCommitSha: first.commitSha, commitMessage: 'Back', author });
  assert.deepEqual((await repo.listFiles()).paths, ['a.txt']);
  const url = adapt(await repo.getRemoteURL());
  const folder = join(mkdtempSync(join(tmpdir(), 'clone-')), 'app');
  execFileSync('git', ['clone', '-q', url, folder]);
  assert.equal(readFileSync(join(folder, 'a.txt'), 'utf8'), 'one\n');
  console.log(`what was restored is cloned from ${new URL(url).host}`);
}
