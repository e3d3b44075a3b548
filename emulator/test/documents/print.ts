import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCUMENTS, generatedFiles, printAnew, ROOT, readDocument } from './documents.js';

// npm run documents: updates the parts of all documents that are the output of commands, and all generated files.
// Prints the names of the changed files.
for (const { file, text } of await generatedFiles()) {
  if (readDocument(file) === text) continue;
  writeFileSync(join(ROOT, file), text);
  console.log(`updated ${file}`);
}
for (const name of DOCUMENTS) if (await printAnew(name)) console.log(`updated ${name}`);
