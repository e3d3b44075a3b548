import { z } from 'zod';
import { operation } from '../http/operation.js';
import { problem } from '../http/problem.js';
import { json } from '../http/reply.js';
import { flag } from './fields.js';
import { showSignedCommit, signedCommitRecord } from './records.js';
import { resolveRef } from './resolve.js';

export const getCommit = operation({
  id: 'getCommit',
  group: 'Commits',
  summary: 'Show one commit',
  routes: [
    { method: 'GET', path: '/api/repos/{repo_name}/commit' },
    { method: 'GET', path: '/api/v1/repos/commit' },
  ],
  scopes: ['git:read'],
  subject: 'repository',
  effect: 'read',
  query: z.object({ ref: z.string().optional(), sha: z.string().optional(), ref_is_ephemeral: flag.optional() }),
  replies: { 200: z.object({ commit: signedCommitRecord }) },
  errors: [400, 404],
  handle: ({ repository, query }) => {
    const ref = query.ref ?? query.sha ?? '';
    if (ref.trim() === '') throw problem('bad_request', 'sha is required.');
    const { commit } = resolveRef(repository, { ref, ephemeral: query.ref_is_ephemeral });
    return json(200, { commit: showSignedCommit(repository.git.objects, commit) });
  },
});
