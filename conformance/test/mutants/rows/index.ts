import type { Mutant } from '../mutant.js';
import { rows as archive } from './archive.js';
import { rows as archiveContent } from './archive-content.js';
import { rows as authentication } from './authentication.js';
import { rows as commitMessages } from './commit-messages.js';
import { rows as commitPackBranches } from './commit-pack-branches.js';
import { rows as commitPackChunks } from './commit-pack-chunks.js';
import { rows as commitPackFiles } from './commit-pack-files.js';
import { rows as commitPackMetadata } from './commit-pack-metadata.js';
import { rows as commitPackNamesakes } from './commit-pack-namesakes.js';
import { rows as commitRecord } from './commit-record.js';
import { rows as commitSummary } from './commit-summary.js';
import { rows as defaultBranch } from './default-branch.js';
import { rows as errorCodes } from './error-codes.js';
import { rows as errorOperations } from './error-operations.js';
import { rows as errors } from './errors.js';
import { rows as events } from './events.js';
import { rows as everyRoute } from './every-route.js';
import { rows as everyWrite } from './every-write.js';
import { rows as fileContent } from './file-content.js';
import { rows as fileMetadata } from './file-metadata.js';
import { rows as fileMetadataEntry } from './file-metadata-entry.js';
import { rows as getOneCommit } from './get-one-commit.js';
import { rows as gitOverHttps } from './git-over-https.js';
import { rows as gitTransfers } from './git-transfers.js';
import { rows as keys } from './keys.js';
import { rows as limits } from './limits.js';
import { rows as noteWriteResult } from './note-write-result.js';
import { rows as notes } from './notes.js';
import { rows as notesClauses } from './notes-clauses.js';
import { rows as oddRequests } from './odd-requests.js';
import { rows as operationEffects } from './operation-effects.js';
import { rows as otherEndpoints } from './other-endpoints.js';
import { rows as otherRepositories } from './other-repositories.js';
import { rows as problemDetails } from './problem-details.js';
import { rows as readAFile } from './read-a-file.js';
import { rows as readsAfterWrites } from './reads-after-writes.js';
import { rows as repositoryClaim } from './repository-claim.js';
import { rows as repositoryMetadata } from './repository-metadata.js';
import { rows as repositoryRecord } from './repository-record.js';
import { rows as repositoryStates } from './repository-states.js';
import { rows as requestBodies } from './request-bodies.js';
import { rows as restore } from './restore.js';
import { rows as restoreEffect } from './restore-effect.js';
import { rows as restoreTips } from './restore-tips.js';
import { rows as restrictedKeys } from './restricted-keys.js';
import { rows as scopeMatrix } from './scope-matrix.js';
import { rows as scopes } from './scopes.js';
import { rows as search } from './search.js';
import { rows as searchCombinations } from './search-combinations.js';
import { rows as searchFilters } from './search-filters.js';
import { rows as searchPages } from './search-pages.js';
import { rows as signatures } from './signatures.js';
import { rows as states } from './states.js';
import { rows as tokenClaims } from './token-claims.js';
import { rows as tokenFailureResponses } from './token-failure-responses.js';
import { rows as tokenHeader } from './token-header.js';
import { rows as tokenPlaces } from './token-places.js';
import { rows as versioning } from './versioning.js';
import { rows as whatTheServiceDoes } from './what-the-service-does.js';
import { rows as writeResult } from './write-result.js';

/** Returns every mutant, in the order of the specification's sections. Throws if two have the same name. */
export function allMutants(): readonly Mutant[] {
  const seen = new Set<string>();
  for (const { name } of ROWS) {
    if (seen.has(name)) throw new Error(`two mutants are called ${name}`);
    seen.add(name);
  }
  return ROWS;
}

const ROWS: readonly Mutant[] = [
  ...whatTheServiceDoes,
  ...repositoryRecord,
  ...commitRecord,
  ...fileMetadataEntry,
  ...fileContent,
  ...commitSummary,
  ...writeResult,
  ...noteWriteResult,
  ...everyWrite,
  ...requestBodies,
  ...problemDetails,
  ...states,
  ...repositoryStates,
  ...search,
  ...searchFilters,
  ...searchCombinations,
  ...defaultBranch,
  ...searchPages,
  ...readsAfterWrites,
  ...restore,
  ...restoreEffect,
  ...restoreTips,
  ...fileMetadata,
  ...getOneCommit,
  ...commitPackMetadata,
  ...commitPackBranches,
  ...commitPackNamesakes,
  ...commitPackFiles,
  ...commitPackChunks,
  ...commitMessages,
  ...archive,
  ...archiveContent,
  ...notes,
  ...notesClauses,
  ...readAFile,
  ...repositoryMetadata,
  ...otherEndpoints,
  ...operationEffects,
  ...authentication,
  ...keys,
  ...tokenHeader,
  ...signatures,
  ...tokenClaims,
  ...tokenPlaces,
  ...everyRoute,
  ...scopes,
  ...scopeMatrix,
  ...repositoryClaim,
  ...otherRepositories,
  ...restrictedKeys,
  ...gitOverHttps,
  ...gitTransfers,
  ...tokenFailureResponses,
  ...events,
  ...errors,
  ...errorCodes,
  ...errorOperations,
  ...oddRequests,
  ...limits,
  ...versioning,
];
