import { lfsBatch } from '../lfs/batch.js';
import { lfsCreateLock, lfsListLocks, lfsUnlock, lfsVerifyLocks } from '../lfs/lock-routes.js';
import { lfsDownloadObject, lfsUploadObject, lfsVerifyObject } from '../lfs/transfers.js';
import type { Operation } from '../operation/operation.js';
import { archive } from './archive.js';
import { blameFile } from './blame.js';
import { createBranch, deleteBranch, getBranch, listBranches } from './branches.js';
import { commitPack } from './commit-pack.js';
import { getCommit, listCommits } from './commits.js';
import { createRepository } from './create-repository.js';
import { createDeployment, getDeployment, listDeployments } from './deployments.js';
import { commitPatch } from './diff-commit.js';
import { diffBranch, diffCommits } from './diffs.js';
import { fileMetadata } from './file-metadata.js';
import { readFile } from './files.js';
import {
  createCredential,
  deleteCredential,
  deleteCredentialByBody,
  updateCredential,
  updateCredentialByBody,
} from './git-credentials.js';
import { gitInfoRefs, gitReceivePack, gitUploadPack } from './git-over-http.js';
import { grep } from './grep.js';
import { mergeBranches } from './merge.js';
import { previewMerge } from './merge-preview.js';
import { deleteNote, listNotesRefs, readNote, writeNote } from './notes.js';
import { getOrganization } from './organization.js';
import { deleteRepository, getRepository, listRepositories, updateRepository } from './repositories.js';
import { restoreCommit } from './restore.js';
import { createTag, deleteTag, deleteTagByBody, getTag, listTags } from './tags.js';
import { listFiles } from './tree-listing.js';
import { detachBase, pullUpstream } from './upstream.js';
import { createWebhook, deleteWebhook, listWebhooks } from './webhooks.js';

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
