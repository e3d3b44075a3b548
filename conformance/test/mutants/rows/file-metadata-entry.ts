import { type Mutant, proxied } from '../mutant.js';
import { META, PACK, RESTORE } from '../places.js';
import type { ProxiedRequest, Rewrite } from '../proxy.js';
import { changesJson, isAt } from '../rewrites.js';
import { tokenOf } from '../tokens.js';

/** Changes files in responses. */
function changesFiles(change: (file: { path: string; mode: unknown }) => void): Rewrite {
  return changesJson<{ files: { path: string; mode: unknown }[] }>(META, ({ files }) => files.forEach(change), 200);
}

/** Makes file metadata show the first commit through the API that wrote a file as its last commit. */
function showsFirstWrite(): Rewrite {
  const first = new Map<string, string>();
  const keyOf = (request: ProxiedRequest, path: string) => `${tokenOf(request)?.claims.repo} ${path}`;
  const shows = changesJson<{ files: { path: string; last_commit_sha: string }[]; commits: Record<string, unknown> }>(
    META,
    ({ files, commits }, { request }) => {
      for (const file of files) {
        const sha = first.get(keyOf(request, file.path)) ?? file.last_commit_sha;
        commits[sha] ??= commits[file.last_commit_sha];
        file.last_commit_sha = sha;
      }
    },
    200,
  );
  return {
    response: (response) => {
      shows.response?.(response);
      if (!isAt(PACK, response.request) || response.status !== 201) return;
      const { commit } = JSON.parse(response.body.toString());
      const { metadata } = JSON.parse(response.request.body.toString().split('\n', 1)[0] ?? '');
      for (const { path } of metadata.files) {
        const key = keyOf(response.request, path);
        if (!first.has(key)) first.set(key, commit.commit_sha);
      }
    },
  };
}

interface FileEntry {
  path: string;
  mode: string;
  last_commit_sha: string;
}

/** Makes file metadata show the first commit of the repository as the last commit of the file at `path`. */
function showsFirstCommit(path: string, isMeant: (file: FileEntry, repo: unknown) => boolean): Rewrite {
  return changesJson<{ files: FileEntry[] }>(
    META,
    ({ files }, { request }) => {
      const [file, kept] = [path, 'kept.txt'].map((wanted) => files.find((one) => one.path === wanted));
      if (!file || !kept || !isMeant(file, tokenOf(request)?.claims.repo)) return;
      file.last_commit_sha = kept.last_commit_sha;
    },
    200,
  );
}

/** Makes file metadata ignore the commit of a restore. */
function ignoresRestores(): Rewrite {
  const restored = new Set<unknown>();
  const shows = showsFirstCommit('changed.txt', (_, repo) => restored.has(repo));
  return {
    response: (response) => {
      shows.response?.(response);
      if (isAt(RESTORE, response.request) && response.status === 201)
        restored.add(tokenOf(response.request)?.claims.repo);
    },
  };
}

export const rows: readonly Mutant[] = [
  proxied(
    'filemeta-ignores-changes-of-modes-through-the-api',
    'file-entry.last_commit_sha.string#written-mode',
    'does not show a commit through the API that changed the mode of a file as its last commit',
    showsFirstCommit('run.sh', ({ mode }) => mode === '100755'),
  ),
  proxied(
    'filemeta-remembers-deleted-files',
    'file-entry.last_commit_sha.string#added',
    'shows the commit that first added a file, if the file was deleted and added again',
    showsFirstCommit('again.txt', () => true),
  ),
  proxied(
    'filemeta-ignores-restores',
    'file-entry.last_commit_sha.string#restore-commit',
    'does not show the commit of a restore as the last commit of a file',
    ignoresRestores(),
  ),
  proxied(
    'filemeta-shows-the-first-write',
    'file-entry.last_commit_sha.string#written',
    'shows the first commit that wrote a file as its last commit',
    showsFirstWrite(),
  ),
  proxied(
    'file-entry-writes-sizes-as-text',
    'file-entry.size.number',
    'writes sizes as text',
    changesJson<{ files: { size: unknown }[] }>(
      META,
      (body) => {
        for (const file of body.files) file.size = String(file.size);
      },
      200,
    ),
  ),
  proxied(
    'file-entry-shows-names-without-folders',
    'file-entry.path.string',
    'shows the last part of each path',
    changesFiles((file) => {
      file.path = file.path.slice(file.path.lastIndexOf('/') + 1);
    }),
  ),
  proxied(
    'file-entry-writes-modes-as-numbers',
    'file-entry.mode.regular',
    'writes modes as numbers',
    changesFiles((file) => {
      file.mode = Number(file.mode);
    }),
  ),
  proxied(
    'file-entry-shows-no-executables',
    'file-entry.mode.executable',
    'shows an executable file as an ordinary one',
    changesFiles((file) => {
      file.mode = '100644';
    }),
  ),
  proxied(
    'file-entry-dates-files-alike',
    'file-entry.last_commit_sha.string',
    'shows one and the same commit as the last of every file',
    changesJson<{ files: { last_commit_sha?: unknown }[] }>(
      META,
      ({ files }) => {
        for (const file of files) file.last_commit_sha = files[0]?.last_commit_sha;
      },
      200,
    ),
  ),
  proxied(
    'file-entry-shows-commits-of-the-tip-only',
    'file-entry.last_commit_sha.in-map',
    'leaves commits out that files refer to',
    changesJson<{ commits: object }>(
      META,
      (body) => {
        body.commits = {};
      },
      200,
    ),
  ),
];
