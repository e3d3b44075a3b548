import type { Repository } from './repository.js';

/** What an upstream asks for. A repository has at most one. */
export interface GitCredential {
  readonly id: string;
  readonly username?: string | undefined;
  /** Leaves the process in an `Authorization` header to the upstream, and in no other way. */
  readonly password: string;
  /** Milliseconds on the world's clock. */
  readonly createdAt: number;
}

/** The repository, among `repositories`, whose credential has that id. */
export function ownerOfCredential(repositories: Iterable<Repository>, id: string): Repository | undefined {
  for (const repository of repositories) {
    if (repository.record.credential?.id === id) return repository;
  }
  return undefined;
}
