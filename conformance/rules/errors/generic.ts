import { commitFiles, packLines, sendPack } from '../../api/commit-pack.js';
import { archive, getFile, grep, reader } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { GENERIC, isForgeCode, isListedCode, SPECIFIC } from '../../check/codes.js';
import { expectCode } from '../../check/expect.js';
import { responseToDisconnected } from '../../check/journal.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository, sampleRepository } from '../../fixtures/repositories.js';
import type { AmbiguityCode } from '../../specification/ambiguities.js';
import { withFault } from '../documented-operations.js';
import { defineRules, type RuleRow } from '../rule.js';
import { tryWrongMethods } from './methods.js';
import { problemOf } from './problems.js';

/** Size in bytes of a JSON request body that is larger than the emulator accepts. */
const LARGE = 2 * 1024 * 1024;

/**
 * Requests that cause an error, by its status. The specification lists no specific code for these errors, so the
 * generic code of the status is expected.
 */
const REQUESTS: Readonly<Record<number, (t: RuleContext) => Promise<ApiResponse>>> = {
  400: async (t) => grep(t, (await sampleRepository(t)).name, { query: { pattern: '(' } }),
  401: (t) => t.get('/api/v1/repo'),
  403: async (t) => {
    const { name } = await sampleRepository(t);
    return grep(t, name, { query: { pattern: 'e' } }, { as: { repo: name, defect: 'foreign-key' } });
  },
  404: async (t) => getFile(t, (await sampleRepository(t)).name, { path: 'no/such/file' }),
  405: async (t) => t.request('PUT', '/api/v1/repo', { as: { repo: (await groupRepository(t)).name } }),
  409: async (t) => {
    const { name } = await groupRepository(t);
    const { before } = await commitFiles(t, name, { 'stale.txt': t.uniqueName() });
    return sendPack(t, name, packLines(t, { 'x.txt': 'x' }, { expected_head_sha: before }));
  },
  413: async (t) => {
    const response = await grep(t, (await sampleRepository(t)).name, undefined, { body: Buffer.alloc(LARGE, 0x20) });
    if (response.status === 400) throw new Skip(`the target accepts a body of ${LARGE} bytes`);
    return response;
  },
  499: async (t) => {
    const { name } = await sampleRepository(t);
    const json = { query: { pattern: 'e' } };
    return responseToDisconnected(t, 'POST', '/api/v1/repos/grep', { as: reader(name), json, sentBytes: 10 });
  },
};

/**
 * Responses that are tolerated instead of the usual one, by status. The specification contradicts itself about them.
 *
 * - `code`: code of the contradiction.
 * - `where`: name of the request in reports.
 * - `members`: permitted responses, such as `404 not_found`.
 */
const TOLERATED: Readonly<Record<number, readonly [code: AmbiguityCode, where: string, members: readonly string[]]>> = {
  404: ['A28', 'missing file', ['404 not_found', '404 ref_not_found']],
  405: ['A29', 'wrong method', ['405 method_not_allowed', '404 route_not_found']],
  409: ['A07', 'stale head', ['409 conflict']],
};

/** Additional requests that cause an error, by its status. They return responses by operation name. */
const OTHER_REQUESTS: Readonly<Record<number, (t: RuleContext) => Promise<Readonly<Record<string, ApiResponse>>>>> = {
  405: async (t) => {
    // Leave out file metadata. Its errors have no code, so another rule checks them.
    const tried = (await tryWrongMethods(t)).filter(({ place }) => place.name !== 'filemeta');
    return Object.fromEntries(tried.map(({ label, response }) => [label, response]));
  },
  413: async (t) => {
    const { name } = await sampleRepository(t);
    return { archive: await archive(t, name, undefined, { body: Buffer.alloc(LARGE, 0x20) }) };
  },
};

const WRITING = [405, 409];
/** Statuses that only an emulator can be made to return, by an injected fault or by its limits. */
const ON_EMULATOR = [413, 499];

function generic(status: number, code: string): RuleRow {
  const natural = REQUESTS[status];
  const others = OTHER_REQUESTS[status];
  const isAtOthers = natural === undefined || others !== undefined;
  const specificOnes = Object.entries(SPECIFIC)
    .filter(([, [own]]) => own === status)
    .map(([name]) => name);
  return {
    id: `err.generic.${status}`,
    says: `A ${status} response without a specific code has the code ${code}.`,
    ...(isAtOthers && { clauses: { operations: `Other operations use the code ${code} with this status too.` } }),
    reach: natural === undefined || ON_EMULATOR.includes(status) ? 'emulator' : 'any',
    writes: WRITING.includes(status),
    watch: (exchange) => {
      const seen = exchange.status === status ? problemOf(exchange)?.code : undefined;
      if (typeof seen !== 'string') return undefined;
      const known = seen === code || specificOnes.includes(seen) || isForgeCode(seen) !== undefined;
      // The code is wrong only if the specification lists it for another status. An unlisted code may be new.
      const foreign = isListedCode(seen);
      return known || !foreign || `a ${status} response has the code ${seen}`;
    },
    check: async (t) => {
      if (natural === undefined) {
        for (const operation of ['repo', 'commit', 'grep'])
          expectCode(await withFault(t, operation, code), status, code);
        return;
      }
      const instead = TOLERATED[status];
      const expectIt = (response: ApiResponse, where = '') => {
        if (instead === undefined) expectCode(response, status, code);
        else t.tolerate(instead[0], instead[1] + where, response, instead[2]);
      };
      expectIt(await natural(t));
      for (const [name, response] of Object.entries((await others?.(t)) ?? {})) expectIt(response, `, ${name}`);
    },
  };
}

export const genericCodes = defineRules(
  'Errors',
  'generic-codes',
  Object.entries(GENERIC).map(([status, code]) => generic(Number(status), code)),
);
