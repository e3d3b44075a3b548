import type { RuleContext } from '../check/rule-context.js';
import type { GitClientChoice } from '../target/git-clients.js';
import { createGit, type GitClient } from './git-client.js';
import { createNativeGit } from './native-git.js';

const CLIENTS: Readonly<Record<GitClientChoice, readonly ('js' | 'native')[]>> = {
  js: ['js'],
  native: ['native'],
  both: ['js', 'native'],
};

/**
 * Runs a check once with each Git client that the run uses (option `gitClient`): isomorphic-git, `git` of this machine,
 * or both. Each client begins with an empty local repository.
 */
export async function withEachGitClient(t: RuleContext, check: (git: GitClient) => Promise<unknown>): Promise<void> {
  for (const client of CLIENTS[t.run.gitClient]) {
    if (client === 'js') await check(await createGit(t));
    else {
      await using git = await createNativeGit(t);
      t.observe('native Git client', git.name);
      await check(git);
    }
  }
}
