import { z } from 'zod';
import { NO_BYTES, textOf } from '../git/object/bytes.js';
import { findEntry } from '../git/object/read-tree.js';
import { MODE_TREE } from '../git/object/tree.js';
import { problem } from '../http/problem.js';
import { largeJson } from '../http/reply.js';
import { runYielding } from '../schedule/steps.js';
import {
  commitLine,
  exactBytes,
  findRepository,
  inOrganization,
  named,
  pathNotFound,
  pathQuery,
  readBytes,
  refQuery,
  resolveCommit,
  showCommitLine,
} from './repository-records.js';
import { adminRoute } from './route.js';

const lastCommits = z.object({
  commit: z.string(),
  path: z.string(),
  path_bytes: exactBytes,
  entries: z
    .array(z.object({ name: z.string(), name_bytes: exactBytes, commit: z.string() }))
    .meta({ description: 'Entries of the folder, each with the commit that `git log -1` shows for its path.' }),
  commits: z.array(z.object({ oid: z.string(), ...commitLine })),
});

export type LastCommits = z.infer<typeof lastCommits>;

export const showLastCommits = adminRoute({
  path: '/repositories/{name}/last-commits',
  summary: 'Show which commit last changed each entry of a folder',
  query: z.strictObject({ ...inOrganization, ...refQuery, ...pathQuery }),
  replies: { 200: lastCommits },
  errors: ['not_found', 'ref_not_found', 'gateway_timeout'],
  handle: async (ctx) => {
    const { query, meter } = ctx;
    const repository = findRepository(ctx);
    const { objects, history } = repository.git;
    const path = readBytes(query.path, query.path_bytes, 'path') ?? NO_BYTES;
    const commit = await resolveCommit(repository, query.ref, meter);
    const entry = await runYielding(findEntry(objects, history.commit(commit).tree, path), meter);
    if (!entry) throw pathNotFound(path, commit);
    if (entry.mode !== MODE_TREE)
      throw problem('not_found', `The path ${JSON.stringify(textOf(path))} is not a folder in the commit ${commit}.`);
    const touched = await history.lastModifiedEntries(commit, path, meter);
    return largeJson(200, {
      commit,
      ...named('path', path),
      entries: (function* () {
        for (const [name, oid] of touched) yield { ...named('name', name), commit: oid };
      })(),
      commits: (function* () {
        for (const oid of new Set(touched.values())) yield { oid, ...showCommitLine(objects, oid) };
      })(),
    });
  },
});
