/** Values of the option `--git-client`; see `GitClientChoice`. */
export const GIT_CLIENTS = ['js', 'native', 'both'] as const;

/**
 * Git clients with which rules about clones, fetches and pushes run. `js`: isomorphic-git, which is part of the suite.
 * `native`: `git` on the PATH of this machine. `both`: one after the other.
 */
export type GitClientChoice = (typeof GIT_CLIENTS)[number];

/** Name of the observation with the version of `git` that a rule used. */
export const NATIVE_GIT_CLIENT = 'native Git client';
