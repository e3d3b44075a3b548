import type { RuleContext } from '../check/rule-context.js';
import { type GitClientChoice, NATIVE_GIT_CLIENT } from '../target/git-clients.js';
import { createGit, type GitClient } from './git-client.js';
import { withNativeGit } from './native-git.js';

const CLIENTS: Readonly<Record<GitClientChoice, readonly ('js' | 'native')[]>> = {
  js: ['js'],
  native: ['native'],
  both: ['js', 'native'],
};

/**
 * Runs a check with each Git client that the option `gitClient` selects: isomorphic-git, this machine's `git`, or both.
 * Each client begins with an empty local repository.
 */
export async function withEachGitClient(t: RuleContext, check: (git: GitClient) => Promise<unknown>): Promise<void> {
  for (const client of CLIENTS[t.run.gitClient]) {
    if (client === 'js') await check(await createGit(t));
    else {
      await withNativeGit(t, async (git) => {
        t.observe(NATIVE_GIT_CLIENT, git.name);
        await check(git);
      });
    }
  }
}
