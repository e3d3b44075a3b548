import { STATUS_CODES } from 'node:http';
import t from 'tap';
import { methodNotAllowed, problem, problemCodes, shownCode } from './problem.js';

t.test('every status without a specific code carries the generic code the specification lists', async (t) => {
  const generic: Record<number, string> = {
    400: 'bad_request',
    401: 'unauthorized',
    403: 'forbidden',
    404: 'not_found',
    405: 'method_not_allowed',
    408: 'request_timeout',
    409: 'conflict',
    412: 'precondition_failed',
    413: 'payload_too_large',
    422: 'unprocessable_entity',
    429: 'rate_limited',
    499: 'request_canceled',
    500: 'internal_error',
    501: 'not_implemented',
    502: 'bad_gateway',
    503: 'service_unavailable',
    504: 'gateway_timeout',
  };
  for (const [status, code] of Object.entries(generic)) {
    t.match(
      problemCodes().find((row) => row.code === code),
      { status: Number(status) },
      code,
    );
  }
});

t.test('each specific code has the status that the specification lists', async (t) => {
  const specific = {
    400: ['repo_claim_missing', 'repo_name_mismatch'],
    403: ['authentication_unavailable', 'insufficient_scope', 'hosting_not_enabled'],
    404: [
      'route_not_found',
      'repository_not_found',
      'branch_not_found',
      'ref_not_found',
      'credential_not_found',
      'hosting_project_not_found',
      'deployment_not_found',
    ],
    409: [
      'repository_deleted',
      'repository_thawing',
      'sync_in_progress',
      'upstream_already_configured',
      'merge_conflict',
      'credential_exists',
      'deployment_project_name_in_use',
    ],
    412: ['forge_app_not_configured', 'forge_repository_inaccessible'],
    422: ['idempotency_key_reused'],
  };
  const shown = new Map(problemCodes().map((row) => [String(row.code), row]));
  for (const [status, codes] of Object.entries(specific)) {
    for (const code of codes) {
      const words = code.split('_').map((word) => word[0]!.toUpperCase() + word.slice(1));
      const title = words.join(' ').replace('Repo ', 'Repository ');
      t.same(shown.get(code), { code, status: Number(status), title });
    }
  }
  t.equal(shownCode('forge_app_not_configured', 'acme'), 'acme_app_not_configured', 'a vendor’s name stands for forge');
  t.equal(shownCode('route_not_found', 'acme'), 'route_not_found');
});

t.test('a generic code is the text of its status', async (t) => {
  const standard = problemCodes().filter(({ code, title }) => STATUS_CODES[problem(code, '').status] === title);
  t.same(
    standard.map(({ status }) => status).sort(),
    [400, 401, 403, 404, 405, 406, 408, 409, 412, 413, 415, 416, 417, 422, 429, 431, 500, 501, 502, 503, 504, 507],
  );
  for (const { code, status, title } of standard) {
    const own: Record<number, string> = { 429: 'rate_limited', 500: 'internal_error' };
    t.equal(code, own[status] ?? title.toLowerCase().replaceAll(' ', '_'));
  }
});

t.test('a problem may have another status than its code, and a 405 lists the allowed methods', async (t) => {
  t.equal(problem('forge_repository_inaccessible', 'No.', { status: 404 }).status, 404);
  const refusal = methodNotAllowed('PATCH', 'GET, HEAD');
  t.match(refusal, { code: 'method_not_allowed', status: 405, detail: /PATCH.*GET, HEAD/ });
  t.same(refusal.options.headers, { allow: 'GET, HEAD' });
});
