import type { Ambiguity } from './ambiguity.js';

/** Gaps outside the section Authentication: the specification does not say what a service does. */
export const GAPS = {
  A19: {
    title: 'Commit to a branch that does not exist, without base_branch',
    texts: [
      'The section "Commit pack" requires that the target branch exists unless `base_branch` is given. Its table gives 404 only for a missing base branch.',
      'The same section says that a commit may create the default branch of an empty repository.',
    ],
    emulator:
      'The emulator answers a commit-pack without `base_branch` to a branch that does not exist with 404 `branch_not_found`. It creates only the default branch of an empty repository.',
    variants: ['missingTargetBranch'],
    rules: ['pack.target_branch.must-exist', 'pack.empty-repo.seed'],
  },
  A20: {
    title: 'Restore of a branch that does not exist',
    texts: [
      'The table of the section "Restore" gives 404 for a missing repository or commit, but has no status for a missing branch.',
    ],
    emulator:
      'The emulator answers the restore of a branch that does not exist with 404 and a restore result. Its `status` is `precondition_failed`, and its `message` names the branch.',
    variants: [],
    rules: ['restore.target_branch.missing-branch'],
  },
  A21: {
    title: 'HTTP status of a chunk above 4 MiB',
    texts: [
      'The section "Commit pack" gives 400 for an invalid chunk.',
      'The section "Limits" allows at most 4 MiB for a chunk, and the section "Errors" has 413 `payload_too_large`.',
    ],
    emulator: 'The emulator answers a commit-pack with a chunk above 4 MiB with 400 `bad_request`.',
    variants: ['oversizedChunk'],
    rules: ['pack.chunk.max-4mib.over'],
  },
  A22: {
    title: 'Search limits outside their range',
    texts: [
      'The section "Search" says that `max_lines` is 2000 by default and at most 2000. It does not say whether a larger value is reduced or refused, and what zero, negative and fractional values do.',
    ],
    emulator:
      'The emulator reduces a `max_lines` above 2000 to 2000. It answers zero, negative values, fractions and strings with 400.',
    variants: ['linesAboveMaximum'],
    rules: ['grep.max_lines.maximum', 'grep.limits.invalid'],
  },
  A23: {
    title: 'Unit of pagination.limit',
    texts: [
      'The section "Search" calls `pagination.limit` the maximum number of matches. An item of the array `matches` is a file with several lines, so the limit may count files or lines.',
    ],
    emulator:
      'The emulator counts the matching lines (those of type `match`) towards `pagination.limit`. So the lines of one file may be on two pages.',
    variants: [],
    rules: ['grep.limits.truncation', 'grep.page.limit.default', 'grep.page.limit.explicit'],
  },
  A24: {
    title: 'HTTP status of a written note',
    texts: ['The section "Notes" shows the response to a written note without its status. Other writes are 201.'],
    emulator: 'The emulator answers a written note with 201, for `add` and for `append`.',
    variants: ['notesStatus'],
    rules: ['note.status.success'],
  },
  A25: {
    title: 'Status and body of a created repository',
    texts: [
      'The section "Other endpoints" shows neither the response to the creation of a repository, nor the response if a repository of this name exists.',
    ],
    emulator:
      'The emulator answers the creation of a repository with 201 and the repository record, to which it adds `repo_name`, `http_url` and `message`. If a repository of this name exists, the response is 409 `conflict`.',
    variants: ['createStatus', 'duplicateRepository'],
    rules: ['other.create.status', 'other.create.duplicate'],
  },
  A26: {
    title: 'Scope of the repository record',
    texts: [
      'The section "Repository metadata" does not show which scope the request needs. The section "Scopes" says that `git:read` covers reading the repository.',
    ],
    emulator:
      'The emulator requires `git:read` to read the repository record. It answers tokens without this scope with 403 `insufficient_scope`.',
    variants: ['repositoryScope'],
    rules: ['scope.matrix.repo.git-write', 'scope.matrix.repo.repo-write', 'scope.matrix.repo.org-read'],
  },
  A27: {
    title: 'Revisions that one commit accepts',
    texts: [
      'The section "Get one commit" allows any revision that Git can resolve, and then lists four forms: full SHA, short SHA, branch and tag. It does not say whether this list is complete.',
    ],
    emulator:
      'To read one commit, the emulator also accepts revisions such as `HEAD`, `main~1` and `main^{}`. It answers revisions that use a reflog, and the form `:/text`, with 404.',
    variants: [],
    rules: ['general.ref-forms', 'commit.get.revision-syntax'],
  },
  A28: {
    title: 'Code of a missing commit, file or branch',
    texts: [
      'The section "Errors" lists `ref_not_found` and `branch_not_found`, but no code for a missing commit, file or note.',
    ],
    emulator:
      'The emulator uses `ref_not_found` for a missing revision or commit (also the commit of a note), `branch_not_found` for a missing base or target branch, and `not_found` for a missing file.',
    variants: ['missingRef', 'missingCommit', 'missingFile', 'missingBaseBranch'],
    rules: [
      'grep.err.404.ref',
      'commit.get.404.commit',
      'pack.base_branch.missing',
      'note.sha.unknown',
      'file.err.404.file',
      'file.err.404.ref',
      'err.generic.404',
      'err.specific.branch_not_found',
      'err.specific.ref_not_found',
    ],
  },
  A29: {
    title: 'Methods that are not documented',
    texts: [
      'The section "File metadata" gives 405 for methods other than GET. The section "Errors" has the generic code `method_not_allowed`, and `route_not_found` for unknown paths.',
      'The specification does not mention HEAD.',
    ],
    emulator:
      'The emulator answers a method that an endpoint does not document with 405 and the header Allow. It answers HEAD like GET without a body, except on file metadata, where HEAD is 405.',
    variants: ['wrongMethod', 'headFileMetadata'],
    rules: ['filemeta.err.405', 'file.conditional', 'err.method', 'err.generic.405'],
  },
  A30: {
    title: 'Order of checks',
    texts: ['The specification does not say which error is reported for a request with two errors.'],
    emulator:
      'The emulator checks a request in this order and reports the first error: the route exists, tokens can be verified, a credential is present, its signature and times are valid, its claims are valid, the repository in the path is that of the claim, the scope suffices, the quota is not exhausted, the repository exists, its state allows the operation, the body is valid, the ref exists.',
    variants: ['unknownRoute'],
    rules: ['general.error-order', 'err.route-not-found.no-auth'],
  },
  A36: {
    title: 'Content types and empty bodies of requests',
    texts: [
      'Each endpoint names the Content-Type of its request body. No section says how another Content-Type is answered.',
      'The section "Restore" gives 400 for an empty body, although it marks the body as optional.',
    ],
    emulator:
      'The emulator accepts any Content-Type if it can parse the body. An archive, and the creation of a repository, may be requested without a body.',
    variants: ['contentType'],
    rules: [
      'general.content-type.other',
      'restore.content-type.json',
      'archive.body.absent',
      'other.create.body.absent',
    ],
  },
  A37: {
    title: 'Default ref, ref in the response, and empty repositories',
    texts: [
      'Three operations choose a ref in different ways if the request has none. Search reads the default branch. Archive reads the default branch, or `HEAD` if there is none. File metadata tries the default branch, then `HEAD`, then `main`.',
      'The section "File metadata" returns the ref that was resolved. It does not say in which form: short name, full name or SHA.',
      'The specification does not describe requests to a repository without commits.',
    ],
    emulator:
      'The emulator returns the ref of file metadata as a short branch name, or as the SHA that the request named. It answers reads of a repository without commits with 404.',
    variants: ['metadataRef'],
    rules: [
      'general.ref-empty',
      'general.empty-repo',
      'filemeta.ref.fallback-head',
      'filemeta.ref.fallback-main',
      'filemeta.ephemeral.no-ref',
      'filemeta.resp.ref',
      'filemeta.empty-repo',
      'archive.ref.head',
    ],
  },
  A38: {
    title: 'refs/ in branch names',
    texts: [
      'The section "Restore" says that `target_branch` has no prefix `refs/`. The specification does not say whether such a prefix is refused or removed, neither for restore nor for commit-pack, and whether `branch` of a write result has it.',
    ],
    emulator:
      'The emulator answers a branch name with the prefix `refs/` with 400. The member `branch` of a write result is the short name.',
    variants: ['resultBranch'],
    rules: ['write.result.branch', 'restore.target_branch.missing-branch', 'pack.target_branch.required'],
  },
  A39: {
    title: 'Lists',
    texts: [
      'Four points of paginated lists are not shown: the name of the member with the items, the maximum of `limit`, the response to invalid values of `limit` and `cursor`, and the value of `next_cursor` on the last page.',
    ],
    emulator:
      'The emulator reduces a `limit` above 100 to 100. It answers a `limit` that is below 1 or not a number, and an unknown `cursor`, with 400. On the last page `next_cursor` is null.',
    variants: [],
    rules: [
      'filemeta.unpaginated.limit',
      'other.meta.content',
      'limit.list.cap',
      'limit.page.invalid-cursor',
      'limit.list.odd',
      'limit.page.odd-cursor',
      'limit.page.next_cursor.end',
    ],
  },
  A40: {
    title: 'Absent, null and additional members',
    texts: [
      'The specification shows the members `base_repo`, `blob_count` and `message` without saying when they are absent. It does not say whether records may have additional members.',
    ],
    emulator:
      'The responses of the emulator also have the members that published clients read, such as `parent_shas`. A repository without an external source has no `base_repo`, and the result of a restore has no `blob_count`.',
    variants: [],
    rules: [
      'general.extra-members',
      'repo.record.base_repo.presence',
      'write.commit.blob_count.restore',
      'write.result.message.empty-on-success',
      'note.result.base_commit.first',
    ],
  },
  A41: {
    title: 'Outcome of a write that is refused',
    texts: [
      'The section "States" says that `result.status` and `result.success` report the outcome for the branch, not the HTTP status alone.',
      'The section "Write result" has the values `ok` and `precondition_failed` for `result.status`. It has no value for a branch that does not exist.',
    ],
    emulator:
      'The emulator sets `result.status` to `precondition_failed` for every refused write. A `base_branch` that does not exist is 404 `branch_not_found`, also if the body is a write result. A branch that has moved is 409 `conflict`.',
    variants: ['writeFailureBody', 'missingBaseBranch'],
    rules: ['write.result.status.values', 'state.ref-outcome-in-body', 'pack.base_branch.missing'],
  },
  A42: {
    title: 'Decoding of repository names in paths',
    texts: [
      'The section "What the service does" says that the repository name in a path is decoded once. It does not mention malformed percent sequences, `+`, Unicode normalization, and the segments `.` and `..`.',
    ],
    emulator:
      'The emulator answers a path with a malformed percent sequence with 400. A `+` in a path is an ordinary character. Repository names are compared byte by byte, without Unicode normalization.',
    variants: [],
    rules: ['general.path.malformed-percent'],
  },
  A43: {
    title: 'RateLimit and Retry-After',
    texts: [
      'The section "Limits" promises Retry-After for 429 and `repository_thawing`, and nothing for 503 and successful responses. The header RateLimit has `r` and `t`, but the name of its policy is not shown.',
    ],
    emulator:
      'A 429 of the emulator has the headers `RateLimit: "default";r=…;t=…` and Retry-After in seconds. A 503 has only Retry-After. Successful responses have neither.',
    variants: [],
    rules: ['err.503.retry-after', 'rate.success.ratelimit'],
  },
  A44: {
    title: 'Defaults that are not stated',
    texts: [
      'The specification does not give four defaults: the committer, the message of a restore, the mode of a file without `mode`, and the separator between an existing note and the text that `append` adds.',
    ],
    emulator:
      'In the emulator, the committer of a commit is its author. The message of a restore is `Restore BRANCH to SHA`. Without `mode`, a new file gets 100644 and an existing file keeps its mode. Between an existing note and appended text, the emulator inserts an empty line.',
    variants: [],
    rules: [
      'commit.record.message',
      'restore.commit_message.used',
      'restore.committer.used',
      'pack.committer.recorded',
      'pack.file.mode.100755',
      'note.action.append.separator',
    ],
  },
  A45: {
    title: 'Typical headers of archives, and X-Cache',
    texts: [
      'The section "Archive" calls the headers of an archive typical. It does not say which file name a repository with a slash in its name gets, and what `<rev>` in the file name is.',
      'The section "Search" does not say when the header X-Cache is `HIT`.',
    ],
    emulator:
      'The emulator sends all headers of an archive that the specification calls typical. The X-Cache of a search is `MISS` for the first request, and `HIT` for the same request until the commit changes.',
    variants: [],
    rules: [
      'grep.x-cache',
      'archive.header.content-type',
      'archive.header.disposition',
      'archive.header.cache-control',
    ],
  },
  A46: {
    title: 'Webhook deliveries',
    texts: [
      'The section "Events" names one event and one member of its payload, `run_count`. It shows nothing else of webhook deliveries.',
    ],
    emulator:
      'The emulator sends webhooks only after you registered a URL. By default it then sends only the event `repo.sync.failed`. Payload, headers and signature are those that published clients expect.',
    variants: [],
    rules: ['event.sync-failed.sent', 'event.no-others', 'event.delivery'],
  },
  A47: {
    title: 'Members of problem details',
    texts: [
      'The section "Resources" lists seven members of problem details and marks none of them as optional. It does not explain `type` and `instance`.',
    ],
    emulator:
      'Problem details of the emulator have all seven members. `type` is `about:blank`, and `error` has the same text as `detail`.',
    variants: [],
    rules: ['problem.title.string', 'problem.type.string', 'problem.instance.string'],
  },
  A48: {
    title: 'Media type of successful JSON responses',
    texts: ['No section gives the media type of successful JSON responses.'],
    emulator: 'The media type of successful JSON responses is application/json.',
    variants: [],
    rules: ['version.json-success-type'],
  },
} as const satisfies Readonly<Record<string, Ambiguity>>;
