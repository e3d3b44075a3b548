import t from 'tap';
import { changeHosting } from './hosting.js';

t.test('a new project is named as its repository and has nothing else set', async (t) => {
  t.same(changeHosting(undefined, {}, 'team/app'), {
    projectName: 'team/app',
    deployOnPush: false,
    productionBranch: null,
    framework: null,
    rootDirectory: null,
    buildCommand: null,
    installCommand: null,
    outputDirectory: null,
    serverlessFunctionRegion: null,
    env: new Map(),
  });
});

t.test('what is absent stays, and null takes a setting or a variable away', async (t) => {
  const env = new Map([
    ['KEY', '1'],
    ['OLD', '2'],
  ]);
  const first = changeHosting(undefined, { projectName: 'site', framework: 'vite', deployOnPush: true, env }, 'app');
  t.match(first, { projectName: 'site', framework: 'vite', deployOnPush: true });
  const same = changeHosting(first, { projectName: undefined, framework: undefined }, 'app');
  t.same(same, first);
  const changes = new Map([
    ['OLD', null],
    ['KEY', '3'],
    ['NEW', '4'],
  ]);
  const second = changeHosting(first, { framework: null, buildCommand: 'make', env: changes }, 'app');
  t.same(second, {
    ...first,
    framework: null,
    buildCommand: 'make',
    env: new Map([
      ['KEY', '3'],
      ['NEW', '4'],
    ]),
  });
  t.same([...first.env.keys()], ['KEY', 'OLD'], 'the project before the change is as it was');
});
