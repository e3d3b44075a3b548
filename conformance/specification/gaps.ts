import type { Ambiguity } from './ambiguity.js';

/** Places where the specification does not say what a service does, except for authentication. */
export const GAPS = {
  A19: {
    title: 'Commit to a branch that does not exist, without base_branch',
    texts: [
      'Commit pack: the target branch must exist unless `base_branch` is given. The table lists 404 only for a missing base branch.',
      'An empty repository may seed its default branch.',
    ],
    emulator: 'The response is 404 `branch_not_found`. Only the default branch of an empty repository is created.',
    variants: ['missingTargetBranch'],
    rules: ['pack.target_branch.must-exist', 'pack.empty-repo.seed'],
  },
  A20: {
    title: 'Restore of a branch that does not exist',
    texts: ['Restore: the table lists 404 for a missing repository or commit, but not for a missing branch.'],
    emulator:
      'The response is 404 with a restore result whose `status` is `precondition_failed` and whose `message` names the branch.',
    variants: [],
    rules: ['restore.target_branch.missing-branch'],
  },
  A21: {
    title: 'HTTP status of a chunk above 4 MiB',
    texts: [
      'Commit pack: an invalid chunk is 400. Errors lists 413 `payload_too_large`, and Limits allows at most 4 MiB for a chunk.',
    ],
    emulator: '400 `bad_request`.',
    variants: ['oversizedChunk'],
    rules: ['pack.chunk.max-4mib.over'],
  },
  A22: {
    title: 'Search limits outside their range',
    texts: [
      'Search: `max_lines` is 2000 by default and at most 2000. Whether a larger value is reduced or refused is not stated, nor what zero, negative and fractional values do.',
    ],
    emulator: 'A larger `max_lines` is reduced to 2000. Zero, negative values, fractions and strings are 400.',
    variants: ['linesAboveMaximum'],
    rules: ['grep.max_lines.maximum', 'grep.limits.invalid'],
  },
  A23: {
    title: 'Unit of pagination.limit',
    texts: [
      'Search: the maximum number of matches. The array `matches` has one item per file with several lines, so the unit can be items or lines.',
    ],
    emulator: 'It counts lines of type `match`. The lines of one file may be on two pages.',
    variants: [],
    rules: ['grep.limits.truncation', 'grep.page.limit.default', 'grep.page.limit.explicit'],
  },
  A24: {
    title: 'HTTP status of a written note',
    texts: ['Notes: the response is shown without its status. Other writes are 201.'],
    emulator: 'The status is 201 for `add` and for `append`.',
    variants: ['notesStatus'],
    rules: ['note.status.success'],
  },
  A25: {
    title: 'Status and body of a created repository',
    texts: [
      'Other endpoints: the response to a creation is not shown, nor the response to creating a repository that exists.',
    ],
    emulator:
      'The response is 201 with the repository record and the members `repo_name`, `http_url` and `message`. A repository that exists is 409 `conflict`.',
    variants: ['createStatus', 'duplicateRepository'],
    rules: ['other.create.status', 'other.create.duplicate'],
  },
  A26: {
    title: 'Scope of the repository record',
    texts: [
      'Repository metadata: the scope is not shown. The section on scopes says that `git:read` covers reading the repository.',
    ],
    emulator: 'It requires `git:read`. Other tokens are 403 `insufficient_scope`.',
    variants: ['repositoryScope'],
    rules: ['scope.matrix.repo.git-write', 'scope.matrix.repo.repo-write', 'scope.matrix.repo.org-read'],
  },
  A27: {
    title: 'Revisions that one commit accepts',
    texts: [
      'One commit: any revision Git can resolve, followed by four forms: full SHA, short SHA, branch and tag. Whether this list is complete is not stated.',
    ],
    emulator: 'Revisions such as `HEAD`, `main~1` and `main^{}` resolve. Forms with a reflog or with `:/text` are 404.',
    variants: [],
    rules: ['general.ref-forms', 'commit.get.revision-syntax'],
  },
  A28: {
    title: 'Code of a missing commit, file or branch',
    texts: ['Errors lists `ref_not_found` and `branch_not_found`, but no code for a missing commit, file or note.'],
    emulator:
      'The code is `ref_not_found` for a revision or a commit, also for the commit of a note; `branch_not_found` for a base or target branch; `not_found` for a file.',
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
      'File metadata: methods other than GET are 405. Errors has the generic code `method_not_allowed`; `route_not_found` is for unknown paths.',
      'HEAD is not mentioned.',
    ],
    emulator:
      'Such a method is 405 with the header Allow. HEAD is answered like GET without a body, except on file metadata, where it is 405.',
    variants: ['wrongMethod', 'headFileMetadata'],
    rules: ['filemeta.err.405', 'file.conditional', 'err.method', 'err.generic.405'],
  },
  A30: {
    title: 'Order of checks',
    texts: ['Nothing states which error is reported for a request with two errors.'],
    emulator:
      'In this order: the route exists, tokens can be verified, a credential is present, its signature and times are valid, its claims are valid, the repository in the path is that of the claim, the scope suffices, the quota is not exhausted, the repository exists, its state allows the operation, the body is valid, the ref exists. Then the operation takes effect.',
    variants: ['unknownRoute'],
    rules: ['general.error-order', 'err.route-not-found.no-auth'],
  },
  A36: {
    title: 'Content types and empty bodies of requests',
    texts: [
      'Each endpoint names its Content-Type; none says how another one is answered.',
      'Restore: an empty body is 400, although the body is marked optional.',
    ],
    emulator:
      'It does not check Content-Type if the body can be parsed. Archive and creating a repository accept a request without a body.',
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
      'Search, archive and file metadata: without `ref`, search reads the default branch; archive reads the default branch or `HEAD`; file metadata reads the default branch, `HEAD` or `main`.',
      'File metadata: the response has the ref that was resolved. Its form (short name, full name or SHA) is not stated.',
      'Nothing describes a repository without commits.',
    ],
    emulator: 'It returns a branch by its short name, and a SHA as it is. A repository without commits is 404.',
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
      'Restore: `target_branch` has no prefix `refs/`. Whether such a prefix is refused or removed is not stated there, in commit-pack, or for the write result.',
    ],
    emulator: 'A name with the prefix `refs/` is 400. `result.branch` is the short name.',
    variants: ['resultBranch'],
    rules: ['write.result.branch', 'restore.target_branch.missing-branch', 'pack.target_branch.required'],
  },
  A39: {
    title: 'Lists',
    texts: [
      'For lists, these points are not shown: the name of the member with the items, the maximum of `limit`, the response to invalid values of `limit` and `cursor`, and the value of `next_cursor` on the last page.',
    ],
    emulator:
      'A `limit` above the maximum (100) is reduced. A `limit` below 1 or that is not a number, and an unknown `cursor`, are 400. The last `next_cursor` is null.',
    variants: [],
    rules: [
      'filemeta.unpaginated.limit',
      'other.meta.content',
      'limit.list.cap',
      'limit.page.invalid-cursor',
      'limit.page.next_cursor.end',
    ],
  },
  A40: {
    title: 'Absent, null and additional members',
    texts: [
      'The members `base_repo`, `blob_count` and `message` are shown without saying when they are absent. Whether records have additional members is not stated.',
    ],
    emulator:
      'Its responses also have the members that published clients read, such as `parent_shas`. Without an external source `base_repo` is absent, and after a restore `blob_count` is absent.',
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
      'States: `result.status` and `result.success` report the outcome for the branch, not the HTTP status alone.',
      'Write result: the values of `result.status` are `ok` and `precondition_failed`. No value is shown for a branch that does not exist.',
    ],
    emulator:
      '`result.status` is `precondition_failed` for every refused write. A `base_branch` that does not exist is 404 `branch_not_found`, also if the response is a write result. A branch that has moved is 409 `conflict`.',
    variants: ['writeFailureBody', 'missingBaseBranch'],
    rules: ['write.result.status.values', 'state.ref-outcome-in-body', 'pack.base_branch.missing'],
  },
  A42: {
    title: 'Decoding of repository names in paths',
    texts: [
      'What the service does: the repository name in a path is decoded once. Malformed percent sequences, `+`, Unicode normalization, and segments `.` and `..` are not described.',
    ],
    emulator:
      'Malformed percent sequences are 400. `+` is an ordinary character. Names are compared byte by byte, without normalization.',
    variants: [],
    rules: ['general.path.malformed-percent'],
  },
  A43: {
    title: 'RateLimit and Retry-After',
    texts: [
      'Limits: Retry-After is promised for 429 and `repository_thawing`. The header RateLimit has `r` and `t`, but the name of its policy is not stated. Nothing is promised for 503 and successful responses.',
    ],
    emulator:
      'A 429 has the headers `RateLimit: "default";r=…;t=…` and Retry-After in seconds. A 503 has Retry-After too. Successful responses have neither.',
    variants: [],
    rules: ['err.503.retry-after', 'rate.success.ratelimit'],
  },
  A44: {
    title: 'Defaults that are not stated',
    texts: [
      'These defaults are not stated: the committer, the message of a restore, the mode of a file without `mode`, and the separator between an existing note and the text that `append` adds.',
    ],
    emulator:
      'The committer is the author. The message of a restore is `Restore BRANCH to SHA`. A new file has the mode 100644, and an existing file keeps its mode. `append` adds an empty line between the texts.',
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
      'Archive: the headers are called typical. The file name for a repository name with a slash, and the meaning of `<rev>` in it, are not stated. Search does not say when X-Cache is `HIT`.',
    ],
    emulator:
      'It sends all these headers. X-Cache is `MISS` for the first request, and `HIT` for the same request until the commit changes.',
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
    texts: ['Events: one event and one member of its payload (`run_count`) are named. Everything else is not shown.'],
    emulator:
      'No webhook is sent before a URL is registered. Then only repo.sync.failed is sent by default, with the payload, headers and signature that published clients expect.',
    variants: [],
    rules: ['event.sync-failed.sent', 'event.no-others', 'event.delivery'],
  },
  A47: {
    title: 'Members of problem details',
    texts: [
      'Resources: seven members are listed without marking any of them optional. The meaning of `type` and `instance` is not stated.',
    ],
    emulator: 'All seven members are present. `type` is `about:blank`, and `error` equals `detail`.',
    variants: [],
    rules: ['problem.title.string', 'problem.type.string', 'problem.instance.string'],
  },
  A48: {
    title: 'Media type of successful JSON responses',
    texts: ['No section states it.'],
    emulator: 'application/json.',
    variants: [],
    rules: ['version.json-success-type'],
  },
} as const satisfies Readonly<Record<string, Ambiguity>>;
