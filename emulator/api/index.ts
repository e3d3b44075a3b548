import { lfsBatch } from '../lfs/batch.js';
import { lfsCreateLock, lfsListLocks, lfsUnlock, lfsVerifyLocks } from '../lfs/lock-routes.js';
import { lfsDownloadObject, lfsUploadObject, lfsVerifyObject } from '../lfs/transfers.js';
import type { Operation } from '../operation/operation.js';
import { archive } from './operations/archive.js';
import { blameFile } from './operations/blame.js';
import { createBranch, deleteBranch, getBranch, listBranches } from './operations/branches.js';
import { commitPack } from './operations/commit-pack.js';
import { getCommit, listCommits } from './operations/commits.js';
import { createRepository } from './operations/create-repository.js';
import { createDeployment, getDeployment, listDeployments } from './operations/deployments.js';
import { commitPatch } from './operations/diff-commit.js';
import { diffBranch, diffCommits } from './operations/diffs.js';
import { fileMetadata } from './operations/file-metadata.js';
import { readFile } from './operations/files.js';
import {
  createCredential,
  deleteCredential,
  deleteCredentialByBody,
  updateCredential,
  updateCredentialByBody,
} from './operations/git-credentials.js';
import { gitInfoRefs, gitReceivePack, gitUploadPack } from './operations/git-over-http.js';
import { grep } from './operations/grep.js';
import { mergeBranches } from './operations/merge.js';
import { previewMerge } from './operations/merge-preview.js';
import { deleteNote, listNotesRefs, readNote, writeNote } from './operations/notes.js';
import { getOrganization } from './operations/organization.js';
import { deleteRepository, getRepository, listRepositories, updateRepository } from './operations/repositories.js';
import { restoreCommit } from './operations/restore.js';
import { createTag, deleteTag, deleteTagByBody, getTag, listTags } from './operations/tags.js';
import { listFiles } from './operations/tree-listing.js';
import { detachBase, pullUpstream } from './operations/upstream.js';
import { createWebhook, deleteWebhook, listWebhooks } from './operations/webhooks.js';

/** Every operation of the service, in the order documents list them. */
export const operations = [
  listRepositories,
  createRepository,
  getRepository,
  updateRepository,
  deleteRepository,
  createCredential,
  updateCredential,
  updateCredentialByBody,
  deleteCredential,
  deleteCredentialByBody,
  pullUpstream,
  detachBase,
  getOrganization,
  listBranches,
  getBranch,
  createBranch,
  deleteBranch,
  diffBranch,
  mergeBranches,
  previewMerge,
  listCommits,
  getCommit,
  diffCommits,
  commitPack,
  commitPatch,
  restoreCommit,
  listFiles,
  fileMetadata,
  readFile,
  blameFile,
  grep,
  archive,
  listTags,
  getTag,
  createTag,
  deleteTag,
  deleteTagByBody,
  readNote,
  writeNote,
  deleteNote,
  listNotesRefs,
  createDeployment,
  listDeployments,
  getDeployment,
  createWebhook,
  listWebhooks,
  deleteWebhook,
  gitInfoRefs,
  gitUploadPack,
  gitReceivePack,
  lfsBatch,
  lfsDownloadObject,
  lfsUploadObject,
  lfsVerifyObject,
  lfsListLocks,
  lfsCreateLock,
  lfsVerifyLocks,
  lfsUnlock,
] as unknown as readonly Operation[];
