import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCUMENTS, generatedFiles, printAnew, ROOT, readDocument } from './documents.js';

// npm run documents: updates all generated files and all command output in documents. Prints the names of the changed
// files.
for (const { file, text } of await generatedFiles()) {
  if (readDocument(file) === text) continue;
  writeFileSync(join(ROOT, file), text);
  console.log(`updated ${file}`);
}
for (const name of DOCUMENTS) if (await printAnew(name)) console.log(`updated ${name}`);
