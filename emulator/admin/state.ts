import { z } from 'zod';
import { json } from '../http/reply.js';
import { refusing } from './controls.js';
import { adminRoute, organizationName } from './route.js';

/** The members are those of the library's `state`, which says what each can be. */
const stateRecord = z.looseObject({
  organizations: z.record(z.string(), z.looseObject({})),
  repositories: z.record(z.string(), z.looseObject({ state: z.string() })),
});

const scope = z.strictObject({ organization: organizationName });

export const showState = adminRoute({
  id: 'showState',
  method: 'GET',
  path: '/state',
  summary: 'Show the switches of organizations and the states of the repositories of one of them',
  access: 'token',
  query: scope,
  replies: { 200: stateRecord },
  handle: ({ controls, organization, query }) =>
    refusing(() => controls.state.read({ org: query.organization ?? organization })).then((state) => json(200, state)),
});

const members = z.record(z.string(), z.unknown());

export const changeState = adminRoute({
  id: 'changeState',
  method: 'PATCH',
  path: '/state',
  summary: 'Change switches and states, all in one step or nothing',
  access: 'token',
  query: scope,
  body: z.strictObject({
    organizations: z.record(z.string(), members).optional(),
    repositories: z.record(z.string(), members).optional(),
    limits: members.optional(),
    variants: members.optional(),
  }),
  replies: { 200: stateRecord },
  handle: async ({ controls: { state }, organization, query, body }) => {
    const org = query.organization ?? organization;
    await refusing(() => state.change(body, { org }));
    return json(200, await refusing(() => state.read({ org })));
  },
});
