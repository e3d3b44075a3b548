import { getRepo, grep } from '../../api/requests.js';
import { GENERIC, isForgeCode, isListedCode, isSpecificCode, SPECIFIC } from '../../check/codes.js';
import { expectCode } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import { groupRepository, sampleRepository } from '../../fixtures/repositories.js';
import { type Exchange, isRecord, type JsonRecord, jsonOf, mediaTypeOf } from '../../http/exchange.js';
import { callOperation } from '../companion/call-operation.js';
import { TestRepository } from '../companion/test-repository.js';
import { faulted } from '../documented-operations.js';
import { defineRules, leftOpen, on, type RuleRow, type Watch } from '../rule.js';

/** Returns true if the response is an error of the API that should have a body. */
function isApiError({ git, status, method, path }: Exchange): boolean {
  return !git && status >= 400 && method !== 'HEAD' && path.startsWith('/api');
}

/** Returns true if the response is an API error whose media type is JSON. */
function isJsonError(exchange: Exchange): boolean {
  return isApiError(exchange) && /^application\/(problem\+)?json$/.test(mediaTypeOf(exchange));
}

/** Returns the JSON body of an API error. Returns undefined for other responses, and if the body is not an object. */
function errorBody(exchange: Exchange): JsonRecord | undefined {
  if (!isApiError(exchange)) return undefined;
  const body = jsonOf(exchange);
  return isRecord(body) ? body : undefined;
}

/**
 * Returns the body of an API error if it is a problem details object (RFC 9457). It is recognized by its media type, or
 * by a string member `code`. Otherwise returns undefined.
 */
export function problemOf(exchange: Exchange): JsonRecord | undefined {
  const body = errorBody(exchange);
  if (body === undefined) return undefined;
  return mediaTypeOf(exchange) === 'application/problem+json' || typeof body.code === 'string' ? body : undefined;
}

function isWriteResult(body: JsonRecord): boolean {
  return isRecord(body.result) && 'success' in body.result;
}

function isFileMetadata(exchange: Exchange): boolean {
  return exchange.path.includes('/files/metadata');
}

const quote = (value: unknown) => JSON.stringify(value) ?? 'absent';

const isText = (value: unknown) => typeof value === 'string' && value !== '';
const isOptionalString = (value: unknown) => value === undefined || typeof value === 'string';

/**
 * Rules about one member of problem details. Each is checked on every error of the run. Each rule also causes an error
 * itself, so that there is at least one to check.
 */
const MEMBERS: readonly [
  id: string,
  says: string,
  isRight: (value: unknown, all: JsonRecord, status: number) => boolean,
][] = [
  ['problem.status.integer', 'status is the HTTP status, as an integer.', (value, _, status) => value === status],
  ['problem.title.string', 'title is a string.', (value) => typeof value === 'string'],
  ['problem.type.string', 'type is a string: a URI reference or about:blank.', isOptionalString],
  ['problem.detail.string', 'detail is a text for human readers.', isText],
  ['problem.error.mirrors-detail', 'error has the same text as detail.', (value, { detail }) => value === detail],
  ['problem.instance.string', 'instance is a string.', isOptionalString],
  ['problem.code.present', 'code is present.', isText],
  [
    'problem.code.snake-case',
    'code is in snake_case.',
    (value) => typeof value === 'string' && /^[a-z0-9]+(_[a-z0-9]+)*$/.test(value),
  ],
];

export const problemDetails = defineRules(
  'Problem details',
  'problem-details',
  MEMBERS.map(([id, says, isRight]): RuleRow => {
    const [, name = ''] = id.split('.');
    return {
      id,
      says,
      watch: (exchange) => {
        const body = problemOf(exchange);
        const { status } = exchange;
        if (body === undefined) return undefined;
        return (
          isRight(body[name], body, status) ||
          `${name} is ${quote(body[name])} with ${status}, detail ${quote(body.detail)}`
        );
      },
      check: async (t) => {
        const response = await getRepo(t, t.uniqueName());
        response.string('code');
        if (response.find(name) === undefined) t.warn(`${name} is missing`);
      },
    };
  }),
);

/**
 * Checks that an error code comes with the status that the specification's tables list for it. A code that is in no
 * table may have any status.
 */
const hasItsStatus: Watch = (exchange) => {
  const body = problemOf(exchange);
  const code = body?.code;
  if (typeof code !== 'string') return undefined;
  const { status } = exchange;
  if (GENERIC[status] === code) return true;
  const owner = Object.entries(GENERIC).find(([, generic]) => generic === code);
  if (owner !== undefined) return `${code} belongs to ${owner[0]}, not ${status}`;
  if (isForgeCode(code) === 'repository') return (status >= 400 && status < 500) || `${code} with ${status}`;
  const specific = isForgeCode(code) === 'app' ? 412 : isSpecificCode(code) ? SPECIFIC[code][0] : undefined;
  return specific === undefined || specific === status || `${code} belongs to ${specific}, not ${status}`;
};

/**
 * Expected error codes for statuses without a code in the specification's tables. The code is the reason phrase of the
 * status in snake_case.
 */
const BY_TEXT: Readonly<Record<number, string>> = {
  402: 'payment_required',
  406: 'not_acceptable',
  410: 'gone',
  411: 'length_required',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  416: 'range_not_satisfiable',
  417: 'expectation_failed',
  421: 'misdirected_request',
  423: 'locked',
  425: 'too_early',
  426: 'upgrade_required',
  428: 'precondition_required',
  431: 'request_header_fields_too_large',
  505: 'http_version_not_supported',
  507: 'insufficient_storage',
};

const BODY_LIMIT = 'the body is an error without a member called error';

/** Statuses with which API operations refuse requests. A proxy in front of the API may send other error statuses. */
const REFUSALS = [400, 401, 403, 404, 405, 409, 412, 422, 429];

/**
 * Returns true if the response is a refusal by an API operation, so its body must be a JSON object. Paths with an
 * invalid percent-encoding are left out, because an HTTP server may refuse them before the API does.
 */
function needsObject({ git, method, path, status }: Exchange): boolean {
  const isApi = !git && path.startsWith('/api/') && !/%(?![0-9a-f]{2})/i.test(path);
  return isApi && method !== 'HEAD' && REFUSALS.includes(status);
}

const NO_OBJECT = ({ method, path, status }: Exchange): string =>
  `the ${status} response to ${method} ${path.split('?', 1)[0]} is not a JSON object`;

export const errorShapes = defineRules('Errors', 'error-shapes', [
  {
    id: 'err.content-type',
    says: 'Errors have the media type application/problem+json, except those of file metadata and of failed writes.',
    level: 'SHOULD',
    watch: (exchange) => {
      if (!isApiError(exchange)) return undefined;
      const body = errorBody(exchange);
      if (isFileMetadata(exchange) || (body !== undefined && isWriteResult(body))) return undefined;
      return (
        mediaTypeOf(exchange) === 'application/problem+json' ||
        `an error of ${exchange.path} is ${mediaTypeOf(exchange) || 'without a media type'}`
      );
    },
  },
  {
    id: 'err.generic-when-no-specific',
    says: 'The code of an error belongs to the HTTP status of the response.',
    watch: hasItsStatus,
  },
  {
    id: 'err.new-codes',
    says: 'Codes that the specification does not list may appear.',
    level: 'MAY',
    watch: (exchange) => {
      const code = problemOf(exchange)?.code;
      if (typeof code !== 'string') return undefined;
      const known = isListedCode(code) || BY_TEXT[exchange.status] === code || isForgeCode(code) !== undefined;
      return known || `a new code: ${code}`;
    },
  },
  {
    id: 'err.status-text-snake',
    says: 'A status without a listed code has its status text in snake_case as code.',
    watch: (exchange) => {
      const code = problemOf(exchange)?.code;
      const expected = BY_TEXT[exchange.status];
      return code === undefined || expected === undefined
        ? undefined
        : code === expected || `a ${exchange.status} response has the code ${quote(code)}`;
    },
    check: on(sampleRepository, async (t, { name }) => {
      // An unknown content encoding should cause 415, a status without a listed code. A target that ignores the
      // encoding shows nothing about the rule, so the rule is skipped.
      const headers = { 'content-encoding': 'conformance' };
      const response = await grep(t, name, { query: { pattern: 'e' } }, { headers });
      const code = BY_TEXT[response.status];
      if (code === undefined) throw new Skip(`no status without a listed code could be provoked: ${response.outcome}`);
      expectCode(response, response.status, code);
    }),
  },
  {
    id: 'err.error-only-bodies',
    says: 'The body of some errors has only the member "error", without a "code".',
    level: 'MAY',
    watch: (exchange) => {
      const body = errorBody(exchange);
      if (body === undefined || isWriteResult(body)) return undefined;
      const short = typeof body.error === 'string' && body.code === undefined;
      return !short || isFileMetadata(exchange) || `${exchange.method} ${exchange.path} answers with error alone`;
    },
  },
  {
    id: 'err.error-member',
    says: 'Every error that is not a write result has its message in the member error.',
    clauses: {
      object: 'The body of every refusal by the API is a JSON object.',
      present: 'The member error is present.',
    },
    watch: (exchange) => {
      const body = errorBody(exchange);
      if (body === undefined) return needsObject(exchange) || isJsonError(exchange) ? NO_OBJECT(exchange) : undefined;
      if (isWriteResult(body)) return undefined;
      return (typeof body.error === 'string' && body.error !== '') || BODY_LIMIT;
    },
  },
  {
    id: 'err.5xx-safe',
    says: 'No malformed request causes a server error.',
    level: 'SHOULD',
    clauses: {
      pattern: 'An invalid pattern of a search causes no server error.',
      'search-types': 'A search with a member of the wrong type causes no server error.',
      'archive-types': 'An archive request with a member of the wrong type causes no server error.',
      'create-body': 'An invalid body in the creation of a repository causes no server error.',
      'other-bodies': 'An invalid body of an operation that the specification only names causes no server error.',
      'query-repeated': 'A query parameter that is sent twice causes no server error.',
      'query-empty': 'An empty query parameter causes no server error.',
      'list-limit': 'An invalid limit of a list causes no server error.',
      'list-cursor': 'An invalid cursor of a list causes no server error.',
    },
    watch: ({ status, method, path }) => {
      // Ignore 503. A repository that syncs or thaws may be refused with 503 (A04, A05), whatever the request.
      if (status === 503) return undefined;
      return status < 500 || `${method} ${path} returned ${status}`;
    },
  },
  leftOpen(
    'err.route-not-found.no-auth',
    'The specification does not say whether an unknown route without a token is refused with 401 or 404.',
    async (t) => {
      const response = await t.get('/api/no-such-route');
      t.observe('outcome', response);
      t.tolerate('A30', 'unknown route without a token', response, ['404 route_not_found', '401 unauthorized']);
    },
  ),
  {
    id: 'err.method',
    says: 'The specification does not say how an undocumented method is answered, except for file metadata.',
    level: 'UNSPECIFIED',
    writes: true,
    check: on(groupRepository, async (t, { name }) => {
      const as = { repo: name, scopes: ['git:read'] };
      t.observe('DELETE /api/v1/repo', await t.request('DELETE', '/api/v1/repo', { as }));
      t.observe('PUT /api/meta', await t.request('PUT', '/api/meta', { as: { scopes: ['org:read'] } }));
    }),
  },
  {
    id: 'err.idempotency-header',
    says: 'The specification does not name the header of the idempotency key.',
    level: 'UNSPECIFIED',
    writes: true,
    check: async (t) => {
      t.needsCompanion();
      const repository = await TestRepository.create(t);
      await repository.ensureHosting();
      const headers = { 'idempotency-key': t.uniqueName() };
      const outcomes: string[] = [];
      for (const json of [{ ref: t.defaultBranch }, { ref: t.defaultBranch, target: 'production' }]) {
        outcomes.push((await callOperation(repository, 'create deployment', 'preferred', { headers, json })).outcome);
      }
      t.observe('Idempotency-Key twice', outcomes);
    },
  },
  {
    id: 'err.503.retry-after',
    says: 'The specification does not say whether a 503 has Retry-After.',
    level: 'UNSPECIFIED',
    reach: 'emulator',
    check: on(faulted('filemeta', 'repository_thawing'), async (t, response) =>
      t.observe('Retry-After', response.header('retry-after') ?? 'none'),
    ),
  },
]);
