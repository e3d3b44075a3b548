import { z } from 'zod';
import { stateChangesSchema } from '../changes/state-changes.js';
import { DEFAULT_VARIANTS, variantRows } from '../config/variants.js';
import { json } from '../http/reply.js';
import { readState } from '../world/state-view.js';
import { adminRoute, organizationName } from './route.js';

export type { OrganizationState, RepositoryStateView, StateView } from '../world/state-view.js';

/**
 * Schema of the response about the state. It has the members of the library's `state`, where their values are
 * documented.
 */
const stateRecord = z.looseObject({
  organizations: z.record(z.string(), z.looseObject({})),
  repositories: z.record(z.string(), z.looseObject({ state: z.string() })),
});

const scope = z.strictObject({ organization: organizationName() });

export const showState = adminRoute({
  path: '/state',
  summary: 'Show the settings of the organizations, and the states of the repositories of one organization',
  query: scope,
  replies: { 200: stateRecord },
  handle: ({ world, organization, query }) => json(200, readState(world, query.organization ?? organization)),
});

export const changeState = adminRoute({
  method: 'PATCH',
  path: '/state',
  summary: 'Change settings and states, all or nothing',
  query: scope,
  body: stateChangesSchema(),
  replies: { 200: stateRecord },
  handle: ({ world, organization, query, body }) => {
    const org = query.organization ?? organization;
    world.changeState(org, body);
    return json(200, readState(world, org));
  },
});

const variantRecord = z.object({
  name: z.string(),
  about: z.string(),
  values: z.array(z.string()),
  value: z.string(),
  default: z.string(),
});

export type VariantRecord = z.infer<typeof variantRecord>;

export const listVariants = adminRoute({
  path: '/variants',
  summary: 'List the variants (what the specification leaves open) with their current values',
  replies: { 200: z.object({ items: z.array(variantRecord) }) },
  handle: ({ world }) => {
    const now = world.state.settings.variants;
    const items = variantRows().map(({ name, about, values }) => ({
      name,
      about,
      values,
      value: now[name],
      default: DEFAULT_VARIANTS[name],
    }));
    return json(200, { items });
  },
});
