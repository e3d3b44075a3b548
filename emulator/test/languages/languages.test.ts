import t from 'tap';
import { LANGUAGES, missingTool, runExample } from './languages.js';

// needs: git, curl, python3

// The shell and Python examples. `main.ts` runs Go and Java.
for (const language of LANGUAGES.filter(({ name }) => ['shell', 'python'].includes(name))) {
  const missing = missingTool(language);
  const skip = missing !== undefined && `this fails: ${missing}`;
  t.test(`the example for ${language.name} runs`, { skip }, async (t) => {
    t.equal(await runExample(language, t.testdir({})), undefined);
  });
}
