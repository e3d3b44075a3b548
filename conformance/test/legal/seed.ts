import { request } from 'undici';
import { packLines } from '../../api/commit-pack.js';
import { repositoryPath } from '../../api/requests.js';
import { createSigner, type TokenRecipe } from '../../auth/tokens.js';
import type { Target } from '../../target/target.js';

interface Call {
  readonly as: TokenRecipe;
  readonly json?: unknown;
  readonly lines?: readonly unknown[];
}

/**
 * Sends an HTTP request to the target and returns the HTTP status. Does not use the suite's HTTP client, so that the
 * suite does not count the request.
 */
export async function call(target: Target, method: string, path: string, { as, json, lines }: Call): Promise<number> {
  const body = lines?.map((line) => `${JSON.stringify(line)}\n`).join('') ?? JSON.stringify(json) ?? null;
  const response = await request(target.baseUrl + path, {
    method: method as 'POST',
    headers: {
      authorization: `Bearer ${createSigner(target, Date.now).sign(as)}`,
      'content-type': lines === undefined ? 'application/json' : 'application/x-ndjson',
    },
    body,
  });
  await response.body.dump();
  return response.statusCode;
}

async function mustCall(...args: Parameters<typeof call>): Promise<void> {
  const status = await call(...args);
  if (status > 299) throw new Error(`${args[1]} ${args[2]} is ${status}`);
}

export type Files = Readonly<Record<string, string | Buffer>>;

/** Creates a repository with the given default branch. Then makes one commit on that branch for each set of files. */
export async function seed(target: Target, repo: string, branch: string, ...commits: readonly Files[]): Promise<void> {
  const scopes = ['repo:write'];
  await mustCall(target, 'POST', '/api/repos', { as: { repo, scopes }, json: { default_branch: branch } });
  for (const files of commits) {
    const lines = packLines({ defaultBranch: branch }, files, { target_branch: branch });
    await mustCall(target, 'POST', '/api/v1/repos/commit-pack', { as: { repo, scopes: ['git:write'] }, lines });
  }
}

export function remove(target: Target, repo: string): Promise<number> {
  return call(target, 'DELETE', repositoryPath(repo), { as: { repo, scopes: ['repo:write'] } });
}
