import type { Ambiguity } from './ambiguity.js';

/** Gaps outside the section Authentication: the specification does not say what a service does. */
export const GAPS = {
  A19: {
    title: 'Commit to a branch that does not exist, without base_branch',
    texts: [
      'The section "Commit pack" says that the target branch must exist if the request has no `base_branch`. If neither exists, it gives no status: its only 404 is for a missing base branch.',
      'The same section says that a commit may create the default branch of an empty repository.',
    ],
    emulator:
      'If the target branch does not exist and the request has no `base_branch`, the emulator answers with 404 `branch_not_found`. The only exception is the default branch of an empty repository, which the commit creates.',
    variants: ['missingTargetBranch'],
    rules: ['pack.target_branch.must-exist', 'pack.empty-repo.seed'],
  },
  A20: {
    title: 'Restore of a branch that does not exist',
    texts: [
      'The section "Restore" gives 404 for a missing repository or commit. It gives no status for a missing branch.',
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
      'The section "Search" gives 2000 as the default and the maximum of `max_lines`. It does not say what happens to a larger value, or to zero, negative and fractional values.',
    ],
    emulator:
      'The emulator reduces a `max_lines` above 2000 to 2000. It answers zero, negative values, fractions and strings with 400.',
    variants: ['linesAboveMaximum'],
    rules: ['grep.max_lines.maximum', 'grep.limits.invalid'],
  },
  A23: {
    title: 'Unit of pagination.limit',
    texts: [
      'The section "Search" says that `pagination.limit` is the maximum number of matches. Each item of the array `matches` is a file with several lines, so the limit could count files or lines.',
    ],
    emulator:
      'In the emulator, `pagination.limit` counts matching lines (lines of the type `match`). Therefore the lines of one file can be split over two pages.',
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
      'The section "Other endpoints" does not show the response to a created repository, or the response if a repository with this name exists already.',
    ],
    emulator:
      'If the repository is created, the emulator answers with 201 and the repository record, plus the members `repo_name`, `http_url` and `message`. If a repository with this name exists, it answers with 409 `conflict`.',
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
      'The emulator accepts other revisions too, such as `HEAD`, `main~1` and `main^{}`. It has no reflog, so it answers revisions that need one (such as `main@{1}`) with 404; it also answers `:/text` with 404.',
    variants: [],
    rules: ['general.ref-forms', 'commit.get.revision-syntax'],
  },
  A28: {
    title: 'Code of a missing commit, file or branch',
    texts: [
      'The section "Errors" has the codes `ref_not_found` and `branch_not_found`. It has no code for a missing commit, file or note.',
    ],
    emulator:
      'The emulator answers a missing revision or commit with `ref_not_found`, a missing base or target branch with `branch_not_found`, and a missing file with `not_found`.',
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
      'The emulator reports the first error that it finds in this order: (1) route, (2) keys of the organization, (3) presence of a credential, (4) signature and times of the token, (5) its claims, (6) repository of the path against the claim `repo`, (7) scope, (8) quota, (9) existence of the repository, (10) state of the repository, (11) request body, (12) ref.',
    variants: ['unknownRoute'],
    rules: ['general.error-order', 'err.route-not-found.no-auth'],
  },
  A36: {
    title: 'Content types and empty bodies of requests',
    texts: [
      'Each endpoint documents the Content-Type of its request body. No section says what happens if a request has another Content-Type.',
      'The section "Restore" gives 400 for an empty body, although it marks the body as optional.',
    ],
    emulator:
      'The emulator accepts any Content-Type if it can parse the body. Only two operations accept a request without a body: the archive and the creation of a repository.',
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
      'If a request has no ref, search reads the default branch. Archive reads the default branch, or `HEAD` if there is none. File metadata tries the default branch, then `HEAD`, then `main`.',
      'The section "File metadata" says that the response contains the resolved ref. It does not say whether this is a short name, a full name or a SHA.',
      'The specification does not describe requests to a repository without commits.',
    ],
    emulator:
      'In the file metadata of the emulator, the ref is the short name of the branch. If the request has a SHA, the ref is that SHA. Reads of a repository without commits are answered with 404.',
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
      'The section "Restore" says that `target_branch` has no prefix `refs/`. It does not say whether the service refuses or removes such a prefix. The section "Commit pack" does not mention the prefix.',
      'The specification does not say whether the member `branch` of a write result is a short or a full name.',
    ],
    emulator:
      'If `target_branch` has the prefix `refs/`, the emulator answers with 400. The member `branch` of its write results is the short name.',
    variants: ['resultBranch'],
    rules: ['write.result.branch', 'restore.target_branch.missing-branch', 'pack.target_branch.required'],
  },
  A39: {
    title: 'Lists',
    texts: [
      'For paginated lists, the specification does not show four things: the name of the member with the items, the maximum of `limit`, the response to an invalid `limit` or `cursor`, and `next_cursor` on the last page.',
    ],
    emulator:
      'The emulator reduces a `limit` above 100 to 100. If `limit` is below 1 or not a number, or if `cursor` is unknown, it answers with 400. On the last page, `next_cursor` is null.',
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
      'The specification shows the members `base_repo`, `blob_count` and `message`. It does not say when they are absent, or whether responses may have other members.',
    ],
    emulator:
      'The emulator omits `base_repo` if a repository has no external source, and `blob_count` in the result of a restore. Its responses have additional members that published clients read, such as `parent_shas`.',
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
      'The section "States" says that clients must read the outcome of a write from `result.status` and `result.success`, and not only from the HTTP status.',
      'The section "Write result" has the values `ok` and `precondition_failed` for `result.status`. It has no value for a branch that does not exist.',
    ],
    emulator:
      'In the emulator, `result.status` is `precondition_failed` for every refused write. If `base_branch` does not exist, the response is 404 `branch_not_found`. If the branch has moved, the response is 409 `conflict`.',
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
      'The section "Limits" says that 429 and `repository_thawing` have the header Retry-After. It does not say which headers a 503 or a successful response has.',
      'The header RateLimit has the parameters `r` and `t`. The name of its policy is not shown.',
    ],
    emulator:
      'A 429 of the emulator has the headers `RateLimit: "default";r=…;t=…` and Retry-After in seconds. A 503 has only Retry-After. Successful responses have neither.',
    variants: [],
    rules: ['err.503.retry-after', 'rate.success.ratelimit'],
  },
  A44: {
    title: 'Defaults that are not stated',
    texts: [
      'The specification does not give four defaults: the committer of a commit, the message of a restore, the mode of a file without `mode`, and the text between an existing note and an appended one.',
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
      'The section "Archive" lists headers that are typical for an archive. It does not say what `<rev>` in the file name stands for, or how the file name shows a slash in the name of a repository.',
      'The section "Search" does not say when the header X-Cache is `HIT`.',
    ],
    emulator:
      'The emulator sends all typical headers of an archive. The header X-Cache is `MISS` for the first search, and `HIT` if the same search is repeated on the same commit.',
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
      'The section "Events" names one event, and one member of its payload (`run_count`). It does not describe the delivery of webhooks any further.',
    ],
    emulator:
      'The emulator sends webhooks only to registered URLs. By default it sends only the event `repo.sync.failed`. Its payload, headers and signature are those that published clients expect.',
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
