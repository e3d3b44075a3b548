import { z } from 'zod';
import { problem } from '../http/problem.js';
import { empty, json, largeJson } from '../http/reply.js';
import { readScenario } from '../scenarios/read-scenario.js';
import type { LoadedScenario } from '../scenarios/scenario.js';
import { shippedScenarios } from '../scenarios/scenario-file.js';
import { shownScenarioSchema } from '../scenarios/schema.js';
import { checkScenario } from '../scenarios/verify-world.js';
import type { Meter } from '../schedule/meter.js';
import { runYielding } from '../schedule/steps.js';
import { isoTime } from '../time/iso-8601.js';
import type { World } from '../world/world.js';
import { listOf, listQuery, writeList } from './lists.js';
import { adminRoute, requireFound } from './route.js';

const scenarioRecord = z.looseObject({
  id: z.string(),
  about: z.string().optional(),
  started: z.boolean(),
  steps_done: z.int(),
  steps: z.int(),
  due: z.iso.datetime().nullable().meta({ description: 'Time of the next step; null if unknown.' }),
  after: z
    .string()
    .optional()
    .meta({ description: 'Id of the last request before the start; absent if there was none. Later requests count.' }),
  faults: z.array(z.string()).meta({ description: 'Ids of the faults that the scenario has added.' }),
  waiting: z.array(z.string()).meta({ description: 'Repositories whose state is set when they are created.' }),
  problems: z.array(z.string()).meta({ description: 'Changes that could not be made.' }),
});

export type ScenarioRecord = z.infer<typeof scenarioRecord>;

const checkedExpectation = z.object({
  at: z.string().meta({ description: 'Place of the expectation: requests.0, faults.ID, or client.RULE.' }),
  text: z.string().meta({ description: 'The expectation in words.' }),
  met: z.boolean(),
  found: z
    .int()
    .meta({ description: 'Number of matching requests, of firings, or of requests to which the rule applied.' }),
  detail: z
    .string()
    .optional()
    .meta({ description: 'Why the expectation is not met; absent if it is met, or if found already says why.' }),
});

const scenarioDetail = scenarioRecord.extend({
  definition: z.looseObject({}),
  verification: z
    .looseObject({ met: z.boolean() })
    .nullable()
    .meta({ description: 'Verification of what the scenario expects; null if it expects nothing.' }),
  expectations: z.array(checkedExpectation).meta({ description: 'Everything that the scenario expects, met or not.' }),
});

export type ScenarioDetail = z.infer<typeof scenarioDetail>;

function showOne(loaded: LoadedScenario): ScenarioRecord {
  const { scenario, isStarted, after, progress, faults, waiting, problems } = loaded;
  return {
    id: scenario.id,
    ...(scenario.about !== undefined && { about: scenario.about }),
    started: isStarted,
    steps_done: progress.next,
    steps: scenario.steps?.length ?? 0,
    due: progress.due === undefined ? null : isoTime(progress.due),
    ...(after !== undefined && { after }),
    faults: [...faults],
    waiting: waiting.map(({ pattern }) => pattern),
    problems: [...problems],
  };
}

async function showDetail(world: World, loaded: LoadedScenario, meter: Meter): Promise<ScenarioDetail> {
  const { scenario } = loaded;
  const result = scenario.expect && (await runYielding(checkScenario(world, loaded), meter));
  return {
    ...showOne(loaded),
    definition: { ...scenario },
    verification: result ? { ...result.verification } : null,
    expectations: [...(result?.checked ?? [])],
  };
}

export const listScenarios = adminRoute({
  path: '/scenarios',
  summary: 'List the scenarios with their progress',
  query: z.strictObject(listQuery),
  replies: { 200: listOf(scenarioRecord) },
  handle: (ctx) =>
    writeList(ctx, {
      of: ['scenarios'],
      items: ctx.world.state.scenarios.list(),
      keyOf: ({ scenario }) => scenario.id,
      show: showOne,
    }),
});

export const listShippedScenarios = adminRoute({
  path: '/shipped-scenarios',
  summary: 'List the scenarios that come with the emulator, as YAML and as JSON',
  replies: {
    200: z.object({
      items: z.array(
        z.object({
          id: z.string(),
          about: z.string(),
          text: z.string().meta({ description: 'YAML.' }),
          definition: z.looseObject({}).meta({ description: 'Body for POST scenarios.' }),
        }),
      ),
    }),
  },
  handle: async ({ operations }) => {
    const items = (await shippedScenarios()).map(({ id, about, text, value }) => {
      return { id, about, text, definition: { ...readScenario(value, operations) } };
    });
    return largeJson(200, { items });
  },
});

export const addScenario = adminRoute({
  method: 'POST',
  path: '/scenarios',
  summary:
    'Register a scenario; with start, it starts for all requests, otherwise its faults apply to requests that name it',
  body: z.record(z.string(), z.unknown(), 'must be a scenario as a JSON object'),
  shownBody: shownScenarioSchema,
  takesYaml: true,
  replies: { 201: scenarioRecord },
  errors: ['conflict'],
  handle: async ({ world, body, operations, organization }) => {
    const { start = false, ...members } = body;
    if (typeof start !== 'boolean') throw problem('bad_request', 'start must be true or false.');
    const scenario = readScenario(members, operations);
    const registered = world.scenarios.register(scenario, { operations, organization });
    if (!start) return json(201, showOne(registered));
    try {
      return json(201, showOne((await world.scenarios.start(scenario.id))!));
    } catch (error) {
      world.scenarios.remove(scenario.id);
      throw error;
    }
  },
});

export const startScenario = adminRoute({
  method: 'POST',
  path: '/scenarios/{id}/start',
  summary: 'Start a registered scenario for all requests',
  replies: { 200: scenarioRecord },
  errors: ['not_found', 'conflict'],
  handle: async ({ world, params }) => {
    const started = await world.scenarios.start(params.id!);
    return json(200, showOne(requireFound(started, 'scenario', params.id)));
  },
});

export const showScenario = adminRoute({
  path: '/scenarios/{id}',
  summary: 'Show a scenario, its progress, and whether its expectations are met',
  replies: { 200: scenarioDetail },
  errors: ['not_found', 'gateway_timeout'],
  handle: async ({ world, params, meter }) => {
    const found = requireFound(world.state.scenarios.get(params.id!), 'scenario', params.id);
    return largeJson(200, await showDetail(world, found, meter));
  },
});

export const removeScenario = adminRoute({
  method: 'DELETE',
  path: '/scenarios/{id}',
  summary: 'End a scenario: its faults and remaining steps are removed; the states and quotas that it has set stay',
  replies: { 204: '' },
  handle: ({ world, params }) => {
    requireFound(world.scenarios.remove(params.id!), 'scenario', params.id);
    return empty(204);
  },
});
