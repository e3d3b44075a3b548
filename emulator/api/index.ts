import type { Operation } from '../http/operation.js';
import { gitInfoRefs, gitReceivePack, gitUploadPack } from '../smart-http/routes.js';
import { commitPack } from './commit-pack.js';
import { getCommit } from './commits.js';
import { readFile } from './files.js';
import { getOrganization } from './organization.js';
import { createRepository, deleteRepository, getRepository, listRepositories } from './repositories.js';

/** Every operation of the service, in the order documents list them. */
export const operations = [
  listRepositories,
  createRepository,
  getRepository,
  deleteRepository,
  getOrganization,
  getCommit,
  commitPack,
  readFile,
  gitInfoRefs,
  gitUploadPack,
  gitReceivePack,
] as unknown as readonly Operation[];
