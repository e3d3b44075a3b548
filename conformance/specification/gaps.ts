import type { Ambiguity } from './ambiguity.js';

/** Gaps outside the section Authentication: the specification does not say what a service does. */
export const GAPS = {
  A19: {
    title: 'Commit to a branch that does not exist, without base_branch',
    texts: [
      'The section "Commit pack" says that the target branch must exist if the request has no `base_branch`. It gives no status for a request that breaks this rule: its only 404 is for a missing base branch.',
      'The same section says that a commit may create the default branch of an empty repository.',
    ],
    emulator:
      'If a commit-pack request has no `base_branch` and its target branch does not exist, the emulator answers with 404 `branch_not_found`. There is one exception: in an empty repository, the request may create the default branch.',
    variants: ['missingTargetBranch'],
    rules: ['pack.target_branch.must-exist', 'pack.empty-repo.seed'],
  },
  A20: {
    title: 'Restore of a branch that does not exist',
    texts: [
      'The section "Restore" gives status 404 for a missing repository or a missing commit. It gives no status for a missing branch.',
    ],
    emulator:
      'If a client restores a branch that does not exist, the emulator answers with 404 and a restore result. The `status` of this result is `precondition_failed`, and its `message` names the branch.',
    variants: [],
    rules: ['restore.target_branch.missing-branch'],
  },
  A21: {
    title: 'HTTP status of a chunk above 4 MiB',
    texts: [
      'The section "Commit pack" gives status 400 for an invalid chunk.',
      'The section "Limits" allows at most 4 MiB for a chunk. The section "Errors" lists the status 413 `payload_too_large`, which could apply to a larger chunk.',
    ],
    emulator: 'If a commit-pack request has a chunk above 4 MiB, the emulator answers with 400 `bad_request`.',
    variants: ['oversizedChunk'],
    rules: ['pack.chunk.max-4mib.over'],
  },
  A22: {
    title: 'Search limits outside their range',
    texts: [
      'The section "Search" gives 2000 as the default and the maximum of `max_lines`. It does not say what happens if the value is larger, zero, negative or a fraction.',
    ],
    emulator:
      'If `max_lines` of a search is above 2000, the emulator uses 2000. If the value is zero, negative, a fraction or a string, the emulator answers with 400.',
    variants: ['linesAboveMaximum'],
    rules: ['grep.max_lines.maximum', 'grep.limits.invalid'],
  },
  A23: {
    title: 'Unit of pagination.limit',
    texts: [
      'The section "Search" says that `pagination.limit` is the maximum number of matches. Each item of the array `matches` is a file with several lines, so the limit could count files or lines.',
    ],
    emulator:
      'For a search in the emulator, `pagination.limit` counts matching lines, that is, lines with the type `match`. So the lines of one file can be split over two pages.',
    variants: [],
    rules: ['grep.limits.truncation', 'grep.page.limit.default', 'grep.page.limit.explicit'],
  },
  A24: {
    title: 'HTTP status of a written note',
    texts: [
      'The section "Notes" shows the response to a written note, but not its status. Other writes have the status 201.',
    ],
    emulator: 'The emulator answers a written note with 201, for `add` and for `append`.',
    variants: ['notesStatus'],
    rules: ['note.status.success'],
  },
  A25: {
    title: 'Status and body of a created repository',
    texts: [
      'The section "Other endpoints" does not show how the service answers a request to create a repository. It also does not show the response if a repository with the requested name exists already.',
    ],
    emulator:
      'When the emulator creates a repository, it answers with 201 and the repository record, plus the members `repo_name`, `http_url` and `message`. If a repository with the requested name exists already, it answers with 409 `conflict`.',
    variants: ['createStatus', 'duplicateRepository'],
    rules: ['other.create.status', 'other.create.duplicate'],
  },
  A26: {
    title: 'Scope of the repository record',
    texts: [
      'The section "Repository metadata" does not show which scope a token needs to read the repository record. The section "Scopes" says that `git:read` covers reading the repository.',
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
      'The emulator also accepts other revisions, such as `HEAD`, `main~1` and `main^{}`. It answers revisions that need a reflog, such as `main@{1}`, with 404, because it has no reflog. It also answers `:/text` with 404.',
    variants: [],
    rules: ['general.ref-forms', 'commit.get.revision-syntax'],
  },
  A28: {
    title: 'Code of a missing commit, file or branch',
    texts: [
      'The section "Errors" has the codes `ref_not_found` and `branch_not_found`. It has no code for a missing commit, file or note.',
    ],
    emulator:
      'The error code of the emulator depends on what is missing: `ref_not_found` for a revision or a commit, `branch_not_found` for a base or target branch, and `not_found` for a file.',
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
      'The section "File metadata" gives status 405 for methods other than GET. The section "Errors" has the generic code `method_not_allowed`, and the code `route_not_found` for unknown paths.',
      'The specification does not mention the method HEAD.',
    ],
    emulator:
      'If the specification does not document a method for an endpoint, the emulator answers with 405 and the header Allow. It answers HEAD like GET, but without a body. File metadata is an exception: the emulator answers HEAD with 405. HEAD ignores the header Range, because RFC 9110 defines ranges only for GET.',
    variants: ['wrongMethod', 'headFileMetadata', 'headFileRange'],
    rules: ['filemeta.err.405', 'file.conditional', 'err.method', 'err.generic.405'],
  },
  A30: {
    title: 'Order of checks',
    texts: ['The specification does not say which error is reported for a request with two errors.'],
    emulator:
      'The emulator reports the first error that it finds in this order: (1) route, (2) keys of the organization, (3) presence of a credential, (4) signature and times of the token, (5) claims of the token, (6) repository in the path, compared with the claim `repo`, (7) scope, (8) quota, (9) existence of the repository, (10) state of the repository, (11) request body, (12) ref.',
    variants: ['unknownRoute'],
    rules: ['general.error-order', 'err.route-not-found.no-auth'],
  },
  A36: {
    title: 'Content types and empty bodies of requests',
    texts: [
      'Each endpoint documents the Content-Type of its request body. No section says what happens if a request has another Content-Type.',
      'The section "Restore" gives status 400 for an empty body, although it marks the body as optional.',
    ],
    emulator:
      'The emulator accepts a request with any Content-Type if it can parse the body. Two operations also accept a request without a body: the download of an archive and the creation of a repository.',
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
      'If a request has no ref, the default depends on the endpoint. Search reads the default branch. Archive reads the default branch, or `HEAD` if there is no default branch. File metadata tries the default branch, then `HEAD`, then `main`.',
      'The section "File metadata" says that the response contains the resolved ref. It does not say whether this ref is a short name, a full name or a SHA.',
      'The specification does not describe requests to a repository without commits.',
    ],
    emulator:
      'In a response with file metadata, the emulator writes the short name of the branch into the member `ref`. If the request names a SHA, `ref` is this SHA. If a repository has no commits, the emulator answers reads with 404.',
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
      'The section "Restore" says that `target_branch` has no prefix `refs/`. It does not say whether the service refuses a name with this prefix, or removes the prefix. The section "Commit pack" does not mention the prefix.',
      'The specification does not say whether the member `branch` of a write result is a short or a full name.',
    ],
    emulator:
      'If `target_branch` has the prefix `refs/`, the emulator answers with 400. In the result of a write, the member `branch` is the short name of the branch, such as `main`.',
    variants: ['resultBranch'],
    rules: ['write.result.branch', 'restore.target_branch.missing-branch', 'pack.target_branch.required'],
  },
  A39: {
    title: 'Lists',
    texts: [
      'For paginated lists, the specification does not show four things: the name of the member with the items, the maximum of `limit`, the response to an invalid `limit` or `cursor`, and `next_cursor` on the last page.',
    ],
    emulator:
      'If the `limit` of a paginated list is above 100, the emulator uses 100. If `limit` is below 1 or not a number, or if `cursor` is unknown, the emulator answers with 400. On the last page of a list, `next_cursor` is null.',
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
      'The specification shows responses with the members `base_repo`, `blob_count` and `message`. It does not say when these members are absent, or whether responses may have other members.',
    ],
    emulator:
      'The emulator omits `base_repo` if a repository has no external source. It omits `blob_count` in the result of a restore. The responses of the emulator also have members that published clients read, although the specification does not show them, such as `parent_shas`.',
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
      'The section "Write result" gives two values of `result.status`: `ok` and `precondition_failed`. It gives no value for a branch that does not exist.',
    ],
    emulator:
      'For every write that the emulator refuses, `result.status` is `precondition_failed`. If `base_branch` does not exist, the response is 404 `branch_not_found`. If the branch has moved since the client read it, the response is 409 `conflict`.',
    variants: ['writeFailureBody', 'missingBaseBranch'],
    rules: ['write.result.status.values', 'state.ref-outcome-in-body', 'pack.base_branch.missing'],
  },
  A42: {
    title: 'Decoding of repository names in paths',
    texts: [
      'The section "What the service does" says that the repository name in a path is decoded once. It does not mention malformed percent sequences, `+`, Unicode normalization, and the segments `.` and `..`.',
    ],
    emulator:
      'If a path contains a malformed percent sequence, the emulator answers with 400. A `+` in a path is an ordinary character. The emulator compares repository names byte by byte, without Unicode normalization.',
    variants: [],
    rules: ['general.path.malformed-percent'],
  },
  A43: {
    title: 'RateLimit and Retry-After',
    texts: [
      'The section "Limits" says that responses with status 429 or the code `repository_thawing` have the header Retry-After. It does not say which headers a 503 or a successful response has.',
      'The specification shows the parameters `r` and `t` of the header RateLimit. It does not show the name of the policy in this header.',
    ],
    emulator:
      'If the emulator answers with 429, the response has the headers `RateLimit: "default";r=…;t=…` and Retry-After (in seconds). A response with 503 has only Retry-After. Successful responses have neither header.',
    variants: [],
    rules: ['err.503.retry-after', 'rate.success.ratelimit'],
  },
  A44: {
    title: 'Defaults that are not stated',
    texts: [
      'The specification does not give four defaults: the committer of a commit, the message of a restore, the mode of a file without `mode`, and the text between an existing note and an appended one.',
    ],
    emulator:
      'By default, the committer of a commit is its author, and the message of a restore is `Restore BRANCH to SHA`. If a file has no `mode`, a new file gets 100644, and an existing file keeps its mode. When the emulator appends text to a note, it inserts an empty line before this text.',
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
      'The section "Archive" lists headers that are typical for an archive. It does not say what `<rev>` in the file name stands for. It also does not say how the file name shows a slash in the name of a repository.',
      'The section "Search" does not say when the response header X-Cache is `HIT`.',
    ],
    emulator:
      'An archive of the emulator has all headers that the specification lists as typical. The response to a search has the header X-Cache: it is `MISS` the first time, and `HIT` if the client repeats the search on the same commit.',
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
      'The section "Events" names one event, and one member of its payload (`run_count`). It does not describe how webhooks are delivered.',
    ],
    emulator:
      'The emulator sends webhooks only to registered URLs. By default, it sends only the event `repo.sync.failed`. The payload, the headers and the signature are those that published clients expect.',
    variants: [],
    rules: ['event.sync-failed.sent', 'event.no-others', 'event.delivery'],
  },
  A47: {
    title: 'Members of problem details',
    texts: [
      'The section "Resources" lists seven members of problem details (error bodies), and marks none of them as optional. It does not explain the members `type` and `instance`.',
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
