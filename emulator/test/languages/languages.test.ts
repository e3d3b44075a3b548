import t from 'tap';
import { LANGUAGES, missingTool, runExample } from './languages.js';

// needs: git, curl, python3

// Tests the examples for shell and Python. `main.ts` runs those for Go and Java, because they take longer.
for (const language of LANGUAGES.filter(({ name }) => ['shell', 'python'].includes(name))) {
  const missing = missingTool(language);
  const skip = missing !== undefined && `this fails: ${missing}`;
  t.test(`the example for ${language.name} runs`, { skip }, async (t) => {
    t.equal(await runExample(language, t.testdir({})), undefined);
  });
}
