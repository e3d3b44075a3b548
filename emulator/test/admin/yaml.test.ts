import t from 'tap';
import { startAdmin } from './admin-service.js';

const YAML = { 'content-type': 'application/yaml; charset=utf-8' };

t.test('a scenario can be registered as YAML, with the same errors as JSON', async (t) => {
  const { admin } = await startAdmin(t);
  const post = (body: string) => admin('POST', '/scenarios', undefined, { body, headers: YAML });
  t.match(await post('id: mine\nsteps:\n  - after: PT1S\n    release: gate\n'), {
    status: 201,
    json: { id: 'mine', steps: 1, started: false },
  });
  for (const [body, detail] of [
    ['id: a\nsteps: [', /^The body is not valid YAML: .* line 2, column \d+\.$/],
    ['- a', /a JSON object/],
    ['', /^id: /],
    ['id: a\nsteps:\n  - on: pull from main\n    release: x', /steps\.0\.on/],
    ['id: a\nnonsense: 1', /"nonsense"/],
  ] as const) {
    t.match(await post(body), { status: 400, json: { detail } }, body);
  }
  t.match(await post(`id: a\nabout: ${'x'.repeat(64 * 1024)}`), { status: 413 });
  t.match((await admin('GET', '/scenarios')).json, { items: [{ id: 'mine' }] });
});

t.test('no other route accepts YAML', async (t) => {
  const { admin } = await startAdmin(t);
  t.match(await admin('PATCH', '/clock', undefined, { body: 'mode: frozen', headers: YAML }), { status: 415 });
  const { paths } = (await admin('GET', '/openapi.json')).json as {
    paths: Record<string, Record<string, { requestBody?: { content: object } }>>;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const types = operations.map(({ requestBody }) => Object.keys(requestBody?.content ?? {}));
  t.same(
    types.filter((names) => names.includes('application/yaml')),
    [['application/json', 'application/yaml']],
  );
});
