import { join } from 'node:path';
import t from 'tap';
import { filesOf, linkProject, mistakesOf, RUNNER_PROJECTS } from './projects.js';

// Test only the test runners that this checkout has installed. `npm run test:runners` tests all of them with the packed
// package.
const INSTALLED = RUNNER_PROJECTS.filter(({ name, instead }) => ['node-test', 'tap'].includes(name) && !instead);
for (const project of INSTALLED) {
  t.test(`a project that tests with ${project.name}`, async (t) => {
    const folder = join(t.testdir(), 'project');
    await linkProject(project, folder);
    for (const row of filesOf(project)) t.same(await mistakesOf(project, folder, row), [], row.file);
  });
}
