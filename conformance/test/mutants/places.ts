/**
 * Method and path of each operation, or a regular expression for both. Mutants (wrong servers) change only requests
 * that match.
 */
export const ANY = /./;
export const API = / \/api\//;
export const REPO = 'GET /api/v1/repo';
export const REPOS = 'GET /api/repos';
export const META_OF_ORGANIZATION = 'GET /api/meta';
export const COMMIT = 'GET /api/v1/repos/commit';
export const COMMITS = 'GET /api/v1/repos/commits';
export const PACK = 'POST /api/v1/repos/commit-pack';
export const RESTORE = 'POST /api/v1/repos/restore-commit';
/** Requests to `reset-commits`, the alias of `restore-commit`. The repository name is part of the path. */
export const RESET = /^POST .*\/reset-commits$/;
export const META = 'GET /api/v1/repos/files/metadata';
export const FILE = 'GET /api/v1/repos/file';
export const GREP = 'POST /api/v1/repos/grep';
export const ARCHIVE = 'POST /api/v1/repos/archive';
export const NOTES = 'POST /api/v1/repos/notes';
export const BRANCHES = /^GET .*\/branches$/;
export const DIFF = 'GET /api/v1/repos/diff';
export const CREATE = 'POST /api/repos';
export const REMOTE = / \/.+\.git\//;
export const REFS = /\.git\/info\/refs$/;

/** Members of a commit in a JSON response that mutants read or change. */
export interface Commit {
  message: string;
}

export function subjectOf({ message }: Commit): string {
  return message.replace(/\n.*/s, '');
}
