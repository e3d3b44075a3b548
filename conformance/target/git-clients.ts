/** Values of the option `--git-client`, explained at `GitClientChoice`. */
export const GIT_CLIENTS = ['js', 'native', 'both'] as const;

/**
 * Git clients for rules about clones, fetches and pushes. `js` is isomorphic-git, which is part of the suite. `native`
 * is `git` on the PATH of this machine. `both` runs one after the other.
 */
export type GitClientChoice = (typeof GIT_CLIENTS)[number];

/** Name under which a rule records the version of `git` that it used. */
export const NATIVE_GIT_CLIENT = 'native Git client';
