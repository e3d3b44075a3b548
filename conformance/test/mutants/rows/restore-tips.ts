import { type Mutant, proxied } from '../mutant.js';
import { COMMIT, RESTORE } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesRequest, isAt } from '../rewrites.js';
import { tokenOf } from '../tokens.js';

/** Changes the metadata of restore requests. `change` also gets the tips in the results of earlier writes. */
function changesTips(change: (metadata: { expected_head_sha?: unknown }, tips: ReadonlySet<string>) => void): Rewrite {
  const tips = new Set<string>();
  return {
    ...changesRequest<{ metadata?: object }>(RESTORE, ({ metadata }) => metadata && change(metadata, tips)),
    response: ({ status, headers, body }) => {
      if (status !== 201 || !String(headers['content-type']).includes('json')) return;
      const sha: unknown = JSON.parse(body.toString()).result?.new_sha;
      if (typeof sha === 'string') tips.add(sha);
    },
  };
}

/** Makes the server answer reads of a commit by the name of a branch as it answered the first of them. */
function cachesCommitsByName(): Rewrite {
  const answers = new Map<string, Buffer>();
  return {
    response: (response) => {
      const { request, status } = response;
      if (!isAt(COMMIT, request) || status !== 200 || /sha=[0-9a-f]{4,40}(?:&|$)/i.test(request.path)) return;
      const key = `${tokenOf(request)?.claims.repo} ${request.path}`;
      response.body = answers.get(key) ?? response.body;
      answers.set(key, response.body);
    },
  };
}

/** Servers that confuse the tip of a branch with another commit before or after a restore. */
export const rows: readonly Mutant[] = [
  proxied(
    'restore-takes-the-beginning-of-the-tip',
    'restore.expected_head.mismatch#shortened-tip',
    'takes the first digits of the tip as expected_head_sha',
    changesTips((metadata, tips) => {
      const expected = String(metadata.expected_head_sha);
      if (expected.length < 40 && [...tips].some((tip) => tip.startsWith(expected))) delete metadata.expected_head_sha;
    }),
  ),
  proxied(
    'restore-leaves-the-old-tip-in-a-cache',
    'restore.effect.new-commit#resolved',
    'still reads the old tip of a branch after a restore if it was read before',
    cachesCommitsByName(),
  ),
];
