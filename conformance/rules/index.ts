import { archiveRules } from './archive/archive.js';
import { claims } from './authentication/claims.js';
import { authentication, keys, tokenHeader } from './authentication/keys.js';
import { otherRepositories } from './authentication/other-repositories.js';
import { repoClaim } from './authentication/repo-claim.js';
import { tokenFailures } from './authentication/token-failures.js';
import { getCommitRules } from './commit/get-commit.js';
import { packBranches } from './commit-pack/branches.js';
import { packChunks } from './commit-pack/chunks.js';
import { packFiles } from './commit-pack/files.js';
import { packMetadata } from './commit-pack/metadata.js';
import { effects } from './companion/effects.js';
import { genericCodes } from './errors/generic.js';
import { methods } from './errors/methods.js';
import { errorShapes, problemDetails } from './errors/problems.js';
import { specificCodes } from './errors/specific.js';
import { events } from './events/events.js';
import { fileErrors, fileRead } from './file/read.js';
import { fileMetadataErrors } from './file-metadata/errors.js';
import { fileMetadataRequests } from './file-metadata/requests.js';
import { endpoints, resources, versioning } from './general/endpoints.js';
import { oddRequests } from './general/odd-requests.js';
import { paths } from './general/paths.js';
import { routes } from './general/routes.js';
import { states } from './general/states.js';
import { gitFetches } from './git/fetches.js';
import { gitReads, gitWrites } from './git/git.js';
import { gitPushes } from './git/pushes.js';
import { lists } from './limits/lists.js';
import { oddPages } from './limits/odd-pages.js';
import { rates } from './limits/rates.js';
import { noteRules } from './notes/notes.js';
import { archiveAfterWrites, fileAfterWrites, metadataAfterWrites, searchAfterWrites } from './reads-after-writes.js';
import { commitRecord } from './records/commit.js';
import { everyNote, everyWrite } from './records/every-write.js';
import { commitSummary, fileEntry } from './records/files.js';
import { noteResult } from './records/note-result.js';
import { repositoryRecord } from './records/repository.js';
import { writeCommit, writeResult } from './records/write-result.js';
import { deleted, otherRules, repositoryRules } from './repository/repository.js';
import { restoreEffect } from './restore/effect.js';
import { restoreAlready, restoreRefusals } from './restore/refusals.js';
import { restoreRoutes } from './restore/routes.js';
import { restrictedKeys } from './restricted-keys/restricted.js';
import { type Rule, SECTIONS } from './rule.js';
import { gitMatrix, scopeMatrix } from './scopes/matrix.js';
import { scopes } from './scopes/scopes.js';
import { searchLimits } from './search/limits.js';
import { searchRequest } from './search/request.js';
import { searchResponse } from './search/response.js';

/** All rules of the suite, in the order of the specification's sections. */
export const rules: readonly Rule[] = [
  ...routes,
  ...paths,
  ...resources,
  ...repositoryRecord,
  ...commitRecord,
  ...fileEntry,
  ...commitSummary,
  ...writeCommit,
  ...writeResult,
  ...everyWrite,
  ...noteResult,
  ...everyNote,
  ...problemDetails,
  ...states,
  ...deleted,
  ...endpoints,
  ...oddRequests,
  ...searchRequest,
  ...searchLimits,
  ...searchResponse,
  ...searchAfterWrites,
  ...restoreRoutes,
  ...restoreEffect,
  ...restoreRefusals,
  ...restoreAlready,
  ...fileMetadataRequests,
  ...fileMetadataErrors,
  ...metadataAfterWrites,
  ...getCommitRules,
  ...packMetadata,
  ...packBranches,
  ...packFiles,
  ...packChunks,
  ...archiveRules,
  ...archiveAfterWrites,
  ...noteRules,
  ...fileRead,
  ...fileAfterWrites,
  ...fileErrors,
  ...repositoryRules,
  ...otherRules,
  ...effects,
  ...authentication,
  ...keys,
  ...tokenHeader,
  ...claims,
  ...scopes,
  ...scopeMatrix,
  ...gitMatrix,
  ...repoClaim,
  ...otherRepositories,
  ...restrictedKeys,
  ...gitReads,
  ...gitFetches,
  ...gitWrites,
  ...gitPushes,
  ...tokenFailures,
  ...events,
  ...errorShapes,
  ...methods,
  ...genericCodes,
  ...specificCodes,
  ...lists,
  ...oddPages,
  ...rates,
  ...versioning,
].sort((a, b) => SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section));
