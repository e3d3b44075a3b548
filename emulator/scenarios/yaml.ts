import { MAX_DEPTH } from '../http/json-reader.js';

/** Error in a YAML document. The message has no full stop, so that it can be part of a sentence. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

/**
 * Maximum number of aliases (`*name`) in one document. The limit is needed because the library searches all anchors for
 * each alias.
 */
const MAX_ALIASES = 100;

const COLLECTIONS: ReadonlySet<string> = new Set(['block-map', 'block-seq', 'flow-collection']);

/** Position of an error in the form of the library `yaml`: an offset in the text, a range, or a token. */
type Place = number | readonly number[] | { readonly offset: number };

/**
 * Parses one YAML 1.2 document; JSON is a subset of YAML. Time and memory are linear in the length of the text, even
 * for malicious documents. The maximum nesting is `MAX_DEPTH`, as in JSON bodies. Throws `YamlError` at the first
 * error.
 */
export async function readYaml(text: string): Promise<unknown> {
  const { Composer, CST, isNode, isScalar, Lexer, LineCounter, Parser, visit } = await import('yaml');
  const lines = new LineCounter();
  let failure: YamlError | undefined;
  const fail = (message: string, place: Place): never => {
    // The first error is thrown again. The library's composer catches an error inside a collection and continues, so a
    // later error would replace the first.
    if (failure !== undefined) throw failure;
    const offset = typeof place === 'number' ? place : 'offset' in place ? place.offset : (place[0] ?? 0);
    const { line, col } = lines.linePos(Math.max(0, offset));
    failure = new YamlError(`${message.replace(/[:.]$/, '')} at line ${line}, column ${col}`);
    throw failure;
  };

  function* tokens() {
    const parser = new Parser(lines.addNewLine);
    lines.addNewLine(0);
    let aliases = 0;
    const isTooDeep = () =>
      parser.stack.length > MAX_DEPTH && parser.stack.filter(({ type }) => COLLECTIONS.has(type)).length > MAX_DEPTH;
    for (const lexeme of new Lexer().lex(text)) {
      if (CST.tokenType(lexeme) === 'alias' && ++aliases > MAX_ALIASES) {
        fail(`The document has more than ${MAX_ALIASES} aliases`, parser.offset);
      }
      for (const token of parser.next(lexeme)) {
        if (token.type === 'error') fail(token.message, token.offset);
        yield token;
      }
      if (isTooDeep()) fail(`The document is nested deeper than ${MAX_DEPTH} levels`, parser.offset);
    }
    yield* parser.end();
  }

  // The library's own check for unique keys is disabled, because it compares each key with all others (quadratic time).
  // The visitor below makes the check in linear time.
  const composer = new Composer({ uniqueKeys: false, stringKeys: true });
  // The library's error handler is replaced, because it collects every error, at about 6 kB each. This one stops at the
  // first error.
  Object.assign(composer, {
    onError: (place: Place, code: string, message: string, isWarning = false) =>
      isWarning || fail(code === 'NON_STRING_KEY' ? 'Map keys must be strings' : message, place),
  });
  let value: unknown = null;
  let count = 0;
  for (const document of composer.compose(tokens(), true, text.length)) {
    if (++count > 1) fail('Only one YAML document is allowed, but a second one begins', document.range);
    const [error] = document.errors;
    if (error !== undefined) fail(error.message, error.pos);
    visit(document, {
      Map: (_key, { items }) => {
        const seen = new Set<unknown>();
        for (const { key } of items) {
          if (!isScalar(key)) continue;
          if (seen.has(key.value)) fail('Map keys must be unique', key.range ?? 0);
          seen.add(key.value);
        }
      },
      Alias: (_key, { source, range }, path) => {
        if (path.some((ancestor) => isNode(ancestor) && 'anchor' in ancestor && ancestor.anchor === source)) {
          fail(`The alias ${source} refers to the map or list that contains it`, range ?? 0);
        }
      },
    });
    try {
      value = document.toJS({ maxAliasCount: MAX_ALIASES });
    } catch (error) {
      throw error instanceof ReferenceError ? new YamlError(error.message) : error;
    }
  }
  return value;
}
