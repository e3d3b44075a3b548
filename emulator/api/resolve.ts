import type { CodeVariant } from '../config/variants.js';
import { type ByteString, bytesOf, sliceBytes, textOf } from '../git/object/bytes.js';
import type { Oid } from '../git/object/object.js';
import { findCommit } from '../git/object/tag.js';
import { resolveRevision } from '../git/revision/revision.js';
import { problem } from '../http/problem.js';
import type { HandlerContext } from '../operation/operation.js';
import { EPHEMERAL } from '../repositories/branch-write.js';
import type { Repository } from '../repositories/repository.js';
import { runYielding } from '../schedule/steps.js';

export interface ResolvedRef {
  readonly commit: Oid;
  /** Value of `ref` in the response: the short name of the branch or tag. For other revisions, the commit id. */
  readonly shown: string;
  /** Full name of the branch or tag, such as `refs/heads/main`; undefined for other revisions. */
  readonly name?: string;
}

export interface RefQuestion {
  /**
   * Revision in the request: a branch, tag, commit id or any other revision that Git understands. Undefined or empty
   * for the default branch.
   */
  readonly ref: string | undefined;
  /** True to look up branches in the ephemeral namespace, which is separate from the normal branches. */
  readonly ephemeral?: boolean | undefined;
  /** False to treat tags as if they did not exist. Default: true. */
  readonly tags?: boolean;
  /**
   * Error code if the revision does not resolve, or the setting (variant) that selects the status. A variant exists
   * where the specification leaves the status open. Default: the variant `missingRef`.
   */
  readonly missing?: CodeVariant | 'bad_request' | undefined;
}

/**
 * Parts of the handler's context that are needed to resolve a revision. `note` adds an explanation to the request's
 * journal entry.
 */
export type RefContext = Pick<HandlerContext, 'repository' | 'meter' | 'note'>;

/**
 * Resolves a revision in a request to a commit. A branch takes precedence over a tag of the same name. Throws
 * `ref_not_found` if there is no such commit, and `bad_request` if the text is not a valid revision.
 */
export async function resolveRef(ctx: RefContext, question: RefQuestion): Promise<ResolvedRef> {
  const { ref, ephemeral = false, tags = true, missing: code = 'missingRef' } = question;
  const missing = (detail: string) =>
    code === 'bad_request' ? problem(code, detail) : problem('ref_not_found', detail, { variant: code });
  const { repository, meter } = ctx;
  const { refs, objects, history } = repository.git;
  const name = ref === undefined || ref === '' ? defaultRef(repository) : ref;
  const steps = resolveRevision(objects, refs, bytesOf(name), {
    prefer: 'branch',
    want: 'commit',
    graph: history.graph,
    ...(ephemeral ? { namespace: EPHEMERAL } : {}),
  });
  const outcome = await runYielding(steps, meter);
  if (outcome.issue === 'malformed')
    throw problem('bad_request', `${name} is not a valid name of a branch, tag or commit.`);
  if (outcome.issue === 'ambiguous')
    throw missing(`${name} is the beginning of more than one commit id. Use more digits.`);
  const commit = outcome.issue === undefined ? await runYielding(findCommit(objects, outcome.oid), meter) : undefined;
  if (outcome.issue !== undefined || commit === undefined || (!tags && outcome.ref?.startsWith(TAGS)))
    throw missing(`No branch, tag or commit is named ${name}.`);
  ctx.note(`ref ${JSON.stringify(name)} is ${outcome.ref === undefined ? '' : `${textOf(outcome.ref)} at `}${commit}`);
  if (outcome.ref === undefined) return { commit, shown: commit };
  return { commit, shown: textOf(shortName(outcome.ref)), name: textOf(outcome.ref) };
}

const TAGS = 'refs/tags/';
const SHOWN_SHORT = ['refs/heads/', TAGS];

/**
 * Removes `refs/heads/` or `refs/tags/` from the name of a resolved ref. Responses show this short name as `ref`, even
 * if the request used HEAD or a full name (specification, 3).
 */
function shortName(ref: ByteString): ByteString {
  const place = SHOWN_SHORT.find((prefix) => ref.startsWith(prefix));
  return place === undefined ? ref : sliceBytes(ref, place.length);
}

/** Returns the revision for a request without `ref`: the default branch, or HEAD if there is none. */
function defaultRef(repository: Repository): string {
  return repository.defaultBranch === undefined ? 'HEAD' : textOf(repository.defaultBranch);
}
