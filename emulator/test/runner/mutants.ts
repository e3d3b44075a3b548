import ts from 'typescript';

/** Small change of a source file, such as `<` to `<=`. At least one test should detect it. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}

type Found = (operator: string, node: ts.Node | { pos: number; end: number }, after: string) => void;

/**
 * Replacements of each binary operator for mutants (small changes of a source file). `operator` is the name of this
 * kind of change.
 */
const BINARY: ReadonlyMap<ts.SyntaxKind, readonly [operator: string, after: readonly string[]]> = new Map([
  [ts.SyntaxKind.LessThanToken, ['comparison', ['<=', '>=']]],
  [ts.SyntaxKind.LessThanEqualsToken, ['comparison', ['<', '>']]],
  [ts.SyntaxKind.GreaterThanToken, ['comparison', ['>=', '<=']]],
  [ts.SyntaxKind.GreaterThanEqualsToken, ['comparison', ['>', '<']]],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, ['comparison', ['!==']]],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, ['comparison', ['===']]],
  [ts.SyntaxKind.AmpersandAmpersandToken, ['logic', ['||']]],
  [ts.SyntaxKind.BarBarToken, ['logic', ['&&']]],
  [ts.SyntaxKind.QuestionQuestionToken, ['logic', ['&&']]],
  [ts.SyntaxKind.PlusToken, ['arithmetic', ['-']]],
  [ts.SyntaxKind.MinusToken, ['arithmetic', ['+']]],
  [ts.SyntaxKind.AsteriskToken, ['arithmetic', ['/']]],
  [ts.SyntaxKind.SlashToken, ['arithmetic', ['*']]],
  [ts.SyntaxKind.PercentToken, ['arithmetic', ['*']]],
  [ts.SyntaxKind.PlusEqualsToken, ['arithmetic', ['-=']]],
  [ts.SyntaxKind.MinusEqualsToken, ['arithmetic', ['+=']]],
]);

/**
 * Returns all mutants of a source file, ordered by position. A mutant is a small change that a test should detect.
 * Types, imports and message texts are not changed.
 */
export function mutantsOf(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const found: Found = (operator, node, after) => {
    const start = 'getStart' in node ? node.getStart(source) : node.pos;
    const before = text.slice(start, node.end);
    if (before === after) return;
    const { line, character } = source.getLineAndCharacterOfPosition(start);
    mutants.push({ file, line: line + 1, column: character + 1, operator, start, end: node.end, before, after });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isTypeAliasDeclaration(node) || ts.isExportDeclaration(node)) return;
    mutate(node, found);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutants.sort((a, b) => a.start - b.start || a.end - b.end);
}

function mutate(node: ts.Node, found: Found): void {
  if (ts.isBinaryExpression(node)) mutateBinary(node, found);
  else if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = ts.isIfStatement(node) ? node.expression : node.condition;
    found('condition', condition, 'true');
    found('condition', condition, 'false');
  } else if (ts.isWhileStatement(node) || ts.isDoStatement(node)) found('condition', node.expression, 'false');
  else if (ts.isForStatement(node) && node.condition) found('condition', node.condition, 'false');
  else if (ts.isPrefixUnaryExpression(node)) {
    const { operator, operand } = node;
    if (operator === ts.SyntaxKind.ExclamationToken) found('negation', node, operand.getText());
    if (operator === ts.SyntaxKind.MinusToken) found('arithmetic', node, operand.getText());
    if (operator === ts.SyntaxKind.PlusPlusToken) found('arithmetic', node, `--${operand.getText()}`);
  } else if (ts.isPostfixUnaryExpression(node)) {
    const isUp = node.operator === ts.SyntaxKind.PlusPlusToken;
    found('arithmetic', node, `${node.operand.getText()}${isUp ? '--' : '++'}`);
  } else if (node.kind === ts.SyntaxKind.TrueKeyword) found('literal', node, 'false');
  else if (node.kind === ts.SyntaxKind.FalseKeyword) found('literal', node, 'true');
  else if (ts.isNumericLiteral(node)) {
    if (isValue(node)) found('literal', node, `(${node.getText()} + 1)`);
  } else if (ts.isStringLiteral(node)) {
    if (isValue(node) && !node.text.includes(' ')) found('literal', node, node.text === '' ? "'x'" : "''");
  } else if (ts.isArrayLiteralExpression(node)) {
    if (node.elements.length > 0 && !isAssigned(node)) found('literal', node, '[]');
  } else if (ts.isReturnStatement(node)) {
    if (node.expression) found('return value', node.expression, 'undefined');
  } else if (ts.isArrowFunction(node)) {
    if (!ts.isBlock(node.body)) found('return value', node.body, 'undefined');
  } else if (ts.isBlock(node)) {
    if (node.statements.length > 0) found('block', node, '{}');
  } else if (ts.isExpressionStatement(node) || ts.isContinueStatement(node) || ts.isBreakStatement(node)) {
    found('statement', node, ';');
  }
}

function mutateBinary({ left, right, operatorToken }: ts.BinaryExpression, found: Found): void {
  const [operator, after] = BINARY.get(operatorToken.kind) ?? ['', []];
  const isText = [left, right].some((one) => ts.isStringLiteralLike(one) || ts.isTemplateExpression(one));
  if (isText && operator === 'arithmetic') return;
  for (const each of after) found(operator, operatorToken, each);
}

/**
 * Returns true if a literal is a value. Returns false for a member name or a literal type, because a change of these
 * would not change a result.
 */
function isValue(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isLiteralTypeNode(parent) || ts.isImportTypeNode(parent)) return false;
  return !((ts.isPropertyAssignment(parent) || ts.isEnumMember(parent)) && parent.name === node);
}

/**
 * Returns true if an array literal is a destructuring pattern on the left of an assignment. Such a pattern has no value
 * that a mutant (small change of the code) could replace.
 */
function isAssigned(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isForOfStatement(parent)) return parent.initializer === node;
  return ts.isBinaryExpression(parent) && parent.left === node;
}

/**
 * Compiles a source file to JavaScript without type checks. Applies `mutant` (small change of the code) first if it is
 * given.
 */
export function compile(text: string, mutant?: Mutant): string {
  const mutated = mutant ? text.slice(0, mutant.start) + mutant.after + text.slice(mutant.end) : text;
  return ts.transpileModule(mutated, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  }).outputText;
}
