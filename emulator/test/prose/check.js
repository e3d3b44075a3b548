import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { openers, phrases } from './phrases.js';

/*
 * Fails if a comment, a document, a message or a test title contains a phrase of `phrases.js`. Quoted text, code and headings
 * are exempt, and so are the strings of tests other than titles.
 */

/** Removes code spans and quoted text, such as messages of Git. */
const unquoted = (text) =>
  text
    .replace(/`[^`]*`/g, '``')
    .replace(/"[^"]*"/g, '""')
    .replace(/“[^”]*”/g, '""');

/** Returns [line number, text, isComment] of every checked text of a TypeScript file. */
function* textsOf(file, lines) {
  const isTest = /\.test\.tsx?$|\/test\//.test(file);
  let block;
  for (const [index, line] of lines.entries()) {
    const comment = /^\s*(?:\/\/|\/\*\*?|\*(?!\/))\s?(.*?)(?:\*\/)?$/.exec(line);
    if (comment && (block !== undefined || !/^\s*\*/.test(line))) {
      const isFirst = block === undefined || (/^\s*\/\//.test(line) && !/^\s*\/\//.test(lines[index - 1] ?? ''));
      yield [index + 1, comment[1].trim(), isFirst];
      block = /^\s*\/\*/.test(line) || block ? true : undefined;
      if (/\*\/\s*$/.test(line)) block = undefined;
      continue;
    }
    const pattern = isTest ? /\.test\((['"`])((?:(?!\1).)*)\1/g : /(['"`])((?:(?!\1).){20,})\1/g;
    for (const [, , text] of line.matchAll(pattern))
      if (text.trim().split(' ').length > 3) yield [index + 1, text, false];
  }
}

/** Returns [line number, text] of the prose of a Markdown file. */
function* proseOf(lines) {
  let isCode = false;
  for (const [index, line] of lines.entries()) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    else if (!isCode && !line.startsWith('#')) yield [index + 1, line, false];
  }
}

const files = execFileSync('git', ['ls-files', '-z', '*.ts', '*.tsx', '*.md'], { encoding: 'utf8' })
  .split('\0')
  .filter(Boolean);
let found = 0;
for (const file of files) {
  let lines;
  try {
    lines = readFileSync(file, 'utf8').split('\n');
  } catch {
    continue; // Deleted and not committed yet.
  }
  const texts = file.endsWith('.md') ? proseOf(lines) : textsOf(file, lines);
  for (const [line, text, isFirst] of texts) {
    const plain = unquoted(text);
    for (const [pattern, instead] of [...(isFirst ? openers : []), ...phrases]) {
      const match = pattern.exec(plain);
      if (!match) continue;
      found += 1;
      console.log(`${file}:${line}: "${match[0]}": ${instead}`);
    }
  }
}
if (found > 0)
  console.log(`${found} phrases to rewrite. The list and its reasons are in emulator/test/prose/phrases.js.`);
process.exitCode = found > 0 ? 1 : 0;
