import { OPERATION_IDS } from '../config/operation-ids.js';
import * as lfsBatch from '../lfs/batch.js';
import * as lfsLocks from '../lfs/lock-routes.js';
import * as lfsTransfers from '../lfs/transfers.js';
import type { Operation } from '../operation/operation.js';
import * as archive from './operations/archive.js';
import * as blame from './operations/blame.js';
import * as branches from './operations/branches.js';
import * as commitPack from './operations/commit-pack.js';
import * as commits from './operations/commits.js';
import * as createRepository from './operations/create-repository.js';
import * as deployments from './operations/deployments.js';
import * as diffCommit from './operations/diff-commit.js';
import * as diffs from './operations/diffs.js';
import * as fileMetadata from './operations/file-metadata.js';
import * as files from './operations/files.js';
import * as gitCredentials from './operations/git-credentials.js';
import * as gitOverHttp from './operations/git-over-http.js';
import * as grep from './operations/grep.js';
import * as merge from './operations/merge.js';
import * as mergePreview from './operations/merge-preview.js';
import * as notes from './operations/notes.js';
import * as organization from './operations/organization.js';
import * as repositories from './operations/repositories.js';
import * as restore from './operations/restore.js';
import * as tags from './operations/tags.js';
import * as treeListing from './operations/tree-listing.js';
import * as upstream from './operations/upstream.js';
import * as webhooks from './operations/webhooks.js';

/** Modules with rows of operations among their exports. */
const modules: readonly object[] = [
  archive,
  blame,
  branches,
  commitPack,
  commits,
  createRepository,
  deployments,
  diffCommit,
  diffs,
  fileMetadata,
  files,
  gitCredentials,
  gitOverHttp,
  grep,
  lfsBatch,
  lfsLocks,
  lfsTransfers,
  merge,
  mergePreview,
  notes,
  organization,
  repositories,
  restore,
  tags,
  treeListing,
  upstream,
  webhooks,
];

/** Every operation of the service, in the order of `OPERATION_IDS`. */
export const operations: readonly Operation[] = modules
  .flatMap((module) => Object.values(module) as unknown[])
  .filter((found): found is Operation => typeof found === 'object' && found !== null && 'routes' in found)
  .sort((one, other) => OPERATION_IDS.indexOf(one.id) - OPERATION_IDS.indexOf(other.id));
