import { z } from 'zod';
import { resolveRef } from '../api/resolve.js';
import { type ByteString, bytesIn, bytesOf } from '../git/object/bytes.js';
import { isCommit, type ObjectReader, type Oid, parseOid } from '../git/object/object.js';
import { findCommit } from '../git/object/tag.js';
import { problem } from '../http/problem.js';
import type { Repository } from '../repositories/repository.js';
import type { Meter } from '../schedule/meter.js';
import { inSlices } from '../schedule/steps.js';
import { type AdminContext, organizationName, requireFound } from './route.js';

/** What path and query of a route name: a repository, a commit, an object, a file. */

export const inOrganization = { organization: organizationName() };

type InOrganization = { readonly organization?: string | undefined };

/** The repository that the path names; of several that had the name one after the other the last one. */
export function findRepository(ctx: AdminContext<InOrganization>): Repository {
  const { world, params, query, organization } = ctx;
  const found = world.state.repositories.find(query.organization ?? organization, params.name!);
  return requireFound(found, 'repository', params.name);
}

export const refQuery = {
  ref: z.string().optional().meta({
    description:
      'A branch, tag or revision, or the full name of a ref of any namespace; default: the default branch, else HEAD.',
  }),
};

/** The commit that `ref` means. Throws `ref_not_found`, and `bad_request` for what no revision can look like. */
export async function resolveCommit(repository: Repository, ref: string | undefined, meter: Meter): Promise<Oid> {
  const { refs, objects } = repository.git;
  // Revisions do not lead into other namespaces: these are for who looks at all of a repository.
  const named = ref === undefined ? undefined : refs.get(bytesOf(ref));
  const commit = named === undefined ? undefined : await inSlices(findCommit(objects, named), meter);
  return commit ?? (await resolveRef({ repository, meter, note: () => {} }, { ref })).commit;
}

export function requireObject(objects: ObjectReader, text: string): Oid {
  if (!/^[0-9a-f]{40}$/.test(text)) throw problem('bad_request', 'oid has to be 40 lower-case hexadecimal digits.');
  const oid = parseOid(text);
  if (objects.find(oid) < 0) throw problem('not_found', `There is no object ${oid} in the repository.`);
  return oid;
}

/** The commit that the path names. */
export function requireCommit({ git }: Repository, text: string): Oid {
  const oid = requireObject(git.objects, text);
  if (!isCommit(git.objects, oid)) throw problem('not_found', `${oid} is no commit.`);
  return oid;
}

const BASE64URL = 'in base64url, without padding';

/** A path can be any bytes; a query is text. */
export const pathQuery = {
  path: z.string().optional(),
  path_bytes: z
    .string()
    .optional()
    .meta({ description: `In place of path: its bytes, ${BASE64URL}. For paths that are not UTF-8.` }),
};

/** The path that a query names in either way; undefined where it names none. */
export function readBytes(text: string | undefined, encoded: string | undefined, name: string): ByteString | undefined {
  if (encoded === undefined) return text === undefined ? undefined : bytesOf(text);
  if (text !== undefined) throw problem('bad_request', `${name} and ${name}_bytes cannot both be given.`);
  const bytes = Buffer.from(encoded, 'base64url');
  if (bytes.toString('base64url') !== encoded)
    throw problem('bad_request', `${name}_bytes has to be bytes ${BASE64URL}.`);
  return bytesIn(bytes);
}
