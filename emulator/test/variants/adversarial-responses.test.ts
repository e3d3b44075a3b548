import t from 'tap';
import { z } from 'zod';
import { operations } from '../../api/index.js';
import type { Operation } from '../../operation/operation.js';
import { EVERY_SCOPE, makeFixture, ROWS, send, stage } from '../operations/routes/fixture.js';
import type { CallOptions, Service, ServiceResponse } from '../service.js';
import { illegalDifferences } from './legal-differences.js';

/** Schema of error responses (problem details). It has no members, because a service may add members to them. */
const REFUSAL = { properties: {} };
/**
 * Generic error codes that an adversarial response may replace with an unknown code, because no request of this test
 * requires them. See section Errors of the specification.
 */
const FREE = [
  'bad_request',
  'not_found',
  'method_not_allowed',
  'conflict',
  'precondition_failed',
  'unprocessable_entity',
];

function findOperation(method: string, path: string): Operation {
  return operations.find(({ routes }) => routes.some((route) => route.method === method && route.path === path))!;
}

/**
 * Compares a usual response with a response in adversarial mode, in which the emulator varies responses as the
 * specification allows. Returns the forbidden differences.
 */
function check({ dialect, replies }: Operation, first: ServiceResponse, second: ServiceResponse, seen: Seen): string[] {
  const [usual, bent] = [withoutPort(first), withoutPort(second)];
  if (usual.status !== bent.status) return [`${bent.status} ${bent.text}`];
  const type = usual.headers['content-type'];
  if (bent.headers['content-type'] !== type) return [`type ${bent.headers['content-type']}`];
  if (usual.json === undefined) return usual.bytes.equals(bent.bytes) ? [] : ['other bytes'];
  const reply = replies[usual.status];
  if (reply !== undefined) {
    const schema = z.toJSONSchema(reply as z.ZodType, { io: 'output', unrepresentable: 'any' });
    return illegalDifferences(usual.json, bent.json, schema as never, seen);
  }
  if (dialect === 'error' && type === 'application/json') {
    return usual.text === bent.text ? [] : [`not the stated body: ${bent.text}`];
  }
  const { code } = usual.json;
  if (code === bent.json.code) return illegalDifferences(usual.json, bent.json, REFUSAL, seen);
  seen.codes += 1;
  if (!FREE.includes(code) || !/^x_unknown_\d+$/.test(bent.json.code)) return [`${bent.json.code} for ${code}`];
  const { code: _, title: __, ...told } = usual.json;
  return illegalDifferences({ ...told, code: bent.json.code, title: bent.json.title }, bent.json, REFUSAL, seen);
}

/**
 * Removes the port from the emulator's address in a response, because the two compared emulators use different ports.
 */
function withoutPort(response: ServiceResponse): ServiceResponse {
  const text = response.text.replace(/127\.0\.0\.1:\d+/g, '127.0.0.1');
  return { ...response, text, json: response.json && JSON.parse(text) };
}

interface Seen {
  added: number;
  dropped: number;
  codes: number;
}

async function both(t: Test): Promise<readonly [usual: Service, awkward: Service]> {
  return [await stage(t), await stage(t, { adversarial: true })];
}
type Test = Parameters<typeof stage>[0];

t.test('adversarial responses of every operation are legal', async (t) => {
  const services = await both(t);
  const shared = [await makeFixture(services[0], 'team/app'), await makeFixture(services[1], 'team/app')] as const;
  const seen = { added: 0, dropped: 0, codes: 0 };
  let count = 0;
  for (const [name, row] of Object.entries(ROWS)) {
    const isWrite = row.scopes.some((scope) => scope.endsWith(':write'));
    const route = row.routes[0]!;
    for (const request of row.sends) {
      const copy = `team/copy ${++count}`;
      const fixtureOf = async (at: 0 | 1) => (isWrite ? makeFixture(services[at], copy) : shared[at]);
      const fixtures = [await fixtureOf(0), await fixtureOf(1)] as const;
      const ask = (at: 0 | 1) => send(services[at], row, route, fixtures[at], request(fixtures[at]));
      const operation = findOperation(row.method === 'HEAD' ? 'GET' : row.method, route);
      for (let time = 0; time < (isWrite ? 1 : 4); time++) {
        t.strictSame(check(operation, await ask(0), await ask(1), seen), [], name);
      }
    }
  }
  t.ok(seen.added > 20 && seen.dropped > 5, JSON.stringify(seen));
});

const REFUSED: Readonly<Record<string, CallOptions>> = {
  'without a credential': { token: null },
  'with a token that is none': { token: 'x.y.z' },
  'without a scope': { scopes: ['org:read'] },
  'of a repository that is not there': { repo: 'none', scopes: EVERY_SCOPE },
  'with a body that is none': { scopes: EVERY_SCOPE, body: '[', headers: { 'content-type': 'application/json' } },
  'with a limit that is none': { scopes: EVERY_SCOPE },
};

t.test('adversarial errors are legal: a code that the specification names is not replaced', async (t) => {
  const services = await both(t);
  for (const service of services) await service.seed('team/app');
  const seen = { added: 0, dropped: 0, codes: 0 };
  const codes = new Set<string>();
  for (const operation of operations) {
    const [{ method, path } = { method: '', path: '' }] = operation.routes;
    for (const [what, options] of Object.entries(REFUSED)) {
      // Skip operations that read no body. They perform a request with a wrong body, so there is no refusal to compare.
      if (what.startsWith('with a') && operation.effect !== 'read' && operation.reads === undefined) continue;
      const repo = encodeURIComponent(options.repo ?? 'team/app');
      const limit = what.includes('limit') ? '?limit=x' : '';
      const target = path.replace('{repo_name}', repo).replace(/\{\w+\}/, 'x') + limit;
      for (let time = 0; time < 2; time++) {
        const [usual, bent] = [
          await services[0].call(method, target, options),
          await services[1].call(method, target, options),
        ];
        if (operation.dialect === 'lfs' || usual.status < 400) continue;
        t.strictSame(check(operation, usual, bent, seen), [], `${operation.id} ${what}: ${bent.text}`);
        codes.add(bent.json?.code);
      }
    }
  }
  for (const code of ['unauthorized', 'forbidden', 'insufficient_scope', 'repository_not_found', 'bad_request']) {
    t.ok(codes.has(code), code);
  }
  t.ok(seen.added > 20 && seen.codes > 20, JSON.stringify(seen));
  const shown = services[1].emulator.requests().map(({ code }) => code);
  t.ok(
    shown.some((code) => code?.startsWith('x_unknown_')),
    'the journal has the codes that were told',
  );
});
