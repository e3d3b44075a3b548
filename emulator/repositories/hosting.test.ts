import t from 'tap';
import { changeHosting } from './hosting.js';

t.test('a new project is named as its repository and has nothing else set', async (t) => {
  t.same(changeHosting(undefined, {}, 'team/app'), {
    project_name: 'team/app',
    deploy_on_push: false,
    production_branch: null,
    framework: null,
    root_directory: null,
    build_command: null,
    install_command: null,
    output_directory: null,
    serverless_function_region: null,
    env: new Map(),
  });
});

t.test('absent settings stay, and null removes a setting or a variable', async (t) => {
  const env = { KEY: '1', OLD: '2' };
  const first = changeHosting(undefined, { project_name: 'site', framework: 'vite', deploy_on_push: true, env }, 'app');
  t.match(first, { project_name: 'site', framework: 'vite', deploy_on_push: true });
  const same = changeHosting(first, { project_name: undefined, framework: undefined }, 'app');
  t.same(same, first);
  const changes = { OLD: null, KEY: '3', NEW: '4' };
  const second = changeHosting(first, { framework: null, build_command: 'make', env: changes }, 'app');
  t.same(second, {
    ...first,
    framework: null,
    build_command: 'make',
    env: new Map([
      ['KEY', '3'],
      ['NEW', '4'],
    ]),
  });
  t.same([...first.env.keys()], ['KEY', 'OLD'], 'the project before the change is as it was');
});
