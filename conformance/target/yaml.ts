import { Composer, CST, isNode, isScalar, Lexer, LineCounter, Parser, visit } from 'yaml';
import { InvalidFile } from './text-file.js';

/** Maximum nesting depth of mappings and sequences in a YAML or JSON file. */
export const MAX_DEPTH = 200;
/** Maximum number of aliases in one YAML document. Each alias costs a search through all anchors. */
const MAX_ALIASES = 100;

const COLLECTIONS: ReadonlySet<string> = new Set(['block-map', 'block-seq', 'flow-collection']);

/** Position of an error as the `yaml` library reports it: an offset, a range, or a token. */
type Place = number | readonly number[] | { readonly offset: number };

/**
 * Parses one YAML 1.2 document. JSON is valid YAML. Time and memory are linear in the length of the text. Throws
 * `InvalidFile` at the first error, or if collections are nested deeper than `MAX_DEPTH`.
 */
export function readYaml(text: string): unknown {
  const lines = new LineCounter();
  let failure: InvalidFile | undefined;
  const fail = (message: string, place: Place): never => {
    // Throw the first failure again. The YAML composer catches an error inside a collection and reports it a second
    // time.
    if (failure !== undefined) throw failure;
    const offset = typeof place === 'number' ? place : 'offset' in place ? place.offset : (place[0] ?? 0);
    const { line, col } = lines.linePos(Math.max(0, offset));
    failure = invalid(`${message.replace(/[:.]$/, '')} at line ${line}, column ${col}`);
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

  // Disable the library's `uniqueKeys` check. It compares each key with all others, so its time is quadratic.
  const composer = new Composer({ uniqueKeys: false, stringKeys: true });
  // Throw at the first error. The library's default handler collects every error, about 6 kB each.
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
        if (path.some((above) => isNode(above) && 'anchor' in above && above.anchor === source)) {
          fail(`The alias ${source} refers to the map or list that contains it`, range ?? 0);
        }
      },
    });
    try {
      value = document.toJS({ maxAliasCount: MAX_ALIASES });
    } catch (error) {
      throw error instanceof ReferenceError ? invalid(error.message) : error;
    }
  }
  return value;
}

function invalid(mistake: string): InvalidFile {
  return new InvalidFile(`is neither YAML nor JSON: ${mistake}`);
}
