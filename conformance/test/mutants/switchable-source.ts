import ts from 'typescript';

/** Replacement of text in a module. It is active only while the named mutant (deliberate mistake) is on. */
export interface SwitchedText {
  readonly mutant: string;
  readonly find: string;
  readonly replace: string;
}

/** Range of a syntax node in the source, and the code that replaces this node while a mutant is on. */
interface Edit {
  readonly mutant: string;
  readonly start: number;
  readonly end: number;
  readonly isExpression: boolean;
  readonly text: string;
}

/**
 * Returns the text of a module with the replacements of several mutants (deliberate mistakes). Each replacement is
 * active while `isMutantOn('name')` returns true. This technique is called mutant schemata.
 *
 * The smallest expression around the replaced text becomes `(isMutantOn('name') ? (new) : (old))`. If there is no such
 * expression, the smallest statement becomes `if (isMutantOn('name')) { new } else { old }`. For a declaration, the
 * enclosing block is switched.
 *
 * `stale` has a sentence for each text that cannot be replaced. Such a text does not occur exactly once, is outside of
 * functions, is switched together with another text of its mutant, or does not result in valid JavaScript.
 */
export function writeSwitchable(
  file: string,
  source: string,
  texts: readonly SwitchedText[],
): { readonly text: string; readonly stale: readonly string[] } {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const found = texts.map((text) => findEdit(file, tree, text));
  const edits = found.filter((edit) => typeof edit !== 'string');
  // Outer edits must come before the edits inside them, because `render` handles nested edits recursively.
  edits.sort((a, b) => a.start - b.start || b.end - a.end);
  const stale = found.filter((edit) => typeof edit === 'string');
  return { text: render(source, 0, source.length, edits), stale: [...stale, ...findNested(file, edits)] };
}

/**
 * Returns a sentence for each edit that lies inside another edit of the same mutant. The inner edit would have no
 * effect, because the outer edit replaces the whole range.
 */
function findNested(file: string, edits: readonly Edit[]): string[] {
  return edits.flatMap(({ mutant, start, end }, index) =>
    edits.slice(index + 1).some((other) => other.mutant === mutant && other.start < end && start <= other.start)
      ? [`the mutant ${mutant} is stale: in ${file}, one of its texts is switched together with another of them`]
      : [],
  );
}

/**
 * Returns the edit that switches between the old and the new text. If this is impossible, returns a sentence with the
 * reason.
 */
function findEdit(file: string, tree: ts.SourceFile, { mutant, find, replace }: SwitchedText): Edit | string {
  const { text } = tree;
  const wanted = find.trim();
  const at = text.indexOf(wanted);
  const refuse = (why: string) => `the mutant ${mutant} is stale: in ${file}, ${JSON.stringify(find)} ${why}`;
  if (wanted === '' || at < 0) return refuse('is not there');
  if (text.indexOf(wanted, at + 1) >= 0) return refuse('is there more than once');
  const end = at + wanted.length;
  for (let node = nodeAround(tree, at, end); node !== tree; node = node.parent) {
    const isExpression = isSwitchedExpression(node);
    if (!isExpression && !isSwitchedStatement(node)) continue;
    if (!isInFunction(node)) return refuse('stands in no function: it is read once, when the module is loaded');
    const start = node.getStart(tree);
    const edit = {
      mutant,
      start,
      end: node.end,
      isExpression,
      text: text.slice(start, at) + replace + text.slice(end, node.end),
    };
    if (parses(render(text, 0, text.length, [edit]))) return edit;
  }
  return refuse(`cannot be replaced by ${JSON.stringify(replace)}: that is no JavaScript there, or in no function`);
}

function nodeAround(tree: ts.SourceFile, start: number, end: number): ts.Node {
  let node: ts.Node = tree;
  for (;;) {
    const inner: ts.Node | undefined = ts.forEachChild(node, (child) =>
      child.getStart(tree) <= start && end <= child.end ? child : undefined,
    );
    if (inner === undefined) return node;
    node = inner;
  }
}

/**
 * Returns true if a conditional expression may replace this syntax node. Returns false for assigned names, which would
 * become invalid, and for called methods, which would lose `this`.
 */
function isSwitchedExpression(node: ts.Node): boolean {
  const { parent } = node;
  if (!ts.isExpression(node) || ts.isSpreadElement(node) || ts.isOmittedExpression(node)) return false;
  if (node.kind === ts.SyntaxKind.SuperKeyword || node.kind === ts.SyntaxKind.ImportKeyword) return false;
  if ((ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.expression === node) return false;
  if (ts.isTaggedTemplateExpression(parent) || ts.isDeleteExpression(parent)) return false;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isBinaryExpression(parent) && parent.left === node) {
    const { kind } = parent.operatorToken;
    return kind < ts.SyntaxKind.FirstAssignment || kind > ts.SyntaxKind.LastAssignment;
  }
  if (ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent)) {
    return parent.operator !== ts.SyntaxKind.PlusPlusToken && parent.operator !== ts.SyntaxKind.MinusMinusToken;
  }
  if (ts.isForInStatement(parent) || ts.isForOfStatement(parent)) return parent.expression === node;
  const isNamed = 'name' in parent && parent.name === node;
  const isBound = 'propertyName' in parent && parent.propertyName === node;
  return !isNamed && !isBound && !ts.isShorthandPropertyAssignment(parent);
}

function isSwitchedStatement(node: ts.Node): boolean {
  if (ts.isVariableStatement(node) || ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) return false;
  return ts.isBlock(node) || ts.isStatement(node);
}

function isInFunction(node: ts.Node): boolean {
  return ts.findAncestor(node.parent, ts.isFunctionLike) !== undefined;
}

function parses(source: string): boolean {
  return ts.transpileModule(source, { reportDiagnostics: true, fileName: 'a.js' }).diagnostics?.length === 0;
}

/**
 * Returns the source text from `start` to `end` with the edits applied. The edits must be inside this range and sorted
 * by start, outer before inner ones.
 */
function render(source: string, start: number, end: number, edits: readonly Edit[]): string {
  let text = '';
  let at = start;
  for (let index = 0; index < edits.length; ) {
    const edit = edits[index] as Edit;
    let next = index + 1;
    while (next < edits.length && (edits[next] as Edit).end <= edit.end) next += 1;
    const old = render(source, edit.start, edit.end, edits.slice(index + 1, next));
    text += source.slice(at, edit.start) + (edit.isExpression ? choose(edit, old) : branch(edit, old));
    at = edit.end;
    index = next;
  }
  return text + source.slice(at, end);
}

function choose({ mutant, text }: Edit, old: string): string {
  return `(isMutantOn('${mutant}') ? (${text}) : (${old}))`;
}

function branch({ mutant, text }: Edit, old: string): string {
  return `{ if (isMutantOn('${mutant}')) { ${text} } else { ${old} } }`;
}
