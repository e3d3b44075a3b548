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
  /** What an answer shows as `ref`: the short name of the branch or tag, or the commit's id. */
  readonly shown: string;
  /** The full name of the branch or tag, where it is one. */
  readonly name?: string;
}

export interface RefQuestion {
  /** Branch, tag, commit id or any revision; undefined and empty mean the default branch. */
  readonly ref: string | undefined;
  /** Branch names are looked up in the ephemeral namespace. */
  readonly ephemeral?: boolean | undefined;
  /** Whether it may be a tag. Default: yes. */
  readonly tags?: boolean;
  /** The code it has when it does not resolve, or the variant that says which. Default: the variant `missingRef`. */
  readonly missing?: CodeVariant | 'bad_request' | undefined;
}

/** What a handler's context has that a ref is resolved with. */
export type RefContext = Pick<HandlerContext, 'repository' | 'meter' | 'note'>;

/**
 * The commit a client's `ref` means. A branch wins over a tag of the same name. Throws `ref_not_found`
 * for what does not resolve or is no commit, and `bad_request` for what no revision can look like.
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
  if (outcome.issue === 'malformed') throw problem('bad_request', `${name} is not a revision.`);
  if (outcome.issue === 'ambiguous') throw missing(`${name} names more than one commit.`);
  const commit = outcome.issue === undefined ? await runYielding(findCommit(objects, outcome.oid), meter) : undefined;
  if (outcome.issue !== undefined || commit === undefined || (!tags && outcome.ref?.startsWith(TAGS)))
    throw missing(`No branch, tag or commit is named ${name}.`);
  ctx.note(`ref ${JSON.stringify(name)} is ${outcome.ref === undefined ? '' : `${textOf(outcome.ref)} at `}${commit}`);
  if (outcome.ref === undefined) return { commit, shown: commit };
  return { commit, shown: textOf(shortName(outcome.ref)), name: textOf(outcome.ref) };
}

const TAGS = 'refs/tags/';
const SHOWN_SHORT = ['refs/heads/', TAGS];

/** Specification, 3: `ref` is "the ref actually resolved, whatever was passed", so not HEAD, nor how it was spelled. */
function shortName(ref: ByteString): ByteString {
  const place = SHOWN_SHORT.find((prefix) => ref.startsWith(prefix));
  return place === undefined ? ref : sliceBytes(ref, place.length);
}

/** The default branch, or HEAD when no default is set. */
function defaultRef(repository: Repository): string {
  return repository.defaultBranch === undefined ? 'HEAD' : textOf(repository.defaultBranch);
}
