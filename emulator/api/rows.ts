/**
 * All operations of the API. Each operation is exported under its id; the modules also export helpers that they share.
 */
export * from '../lfs/batch.js';
export * from '../lfs/lock-routes.js';
export * from '../lfs/transfers.js';
export * from './operations/archive.js';
export * from './operations/blame.js';
export * from './operations/branches.js';
export * from './operations/commit-pack.js';
export * from './operations/commits.js';
export * from './operations/deployments.js';
export * from './operations/diffs.js';
export * from './operations/file-metadata.js';
export * from './operations/files.js';
export * from './operations/git-credentials.js';
export * from './operations/git-over-http.js';
export * from './operations/grep.js';
export * from './operations/merge.js';
export * from './operations/notes.js';
export * from './operations/organization.js';
export * from './operations/repositories.js';
export * from './operations/restore.js';
export * from './operations/tags.js';
export * from './operations/tree-listing.js';
export * from './operations/upstream.js';
export * from './operations/webhooks.js';
