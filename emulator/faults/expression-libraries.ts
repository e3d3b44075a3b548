import { type FilterFunction, FunctionExpressionType, JSONPathEnvironment } from 'json-p3';
import { RE2JS } from 're2js';
import { FAULT_LIMITS } from './fault-limits.js';

/*
 * Access to the libraries for regular expressions (re2js) and JSONPath (json-p3). The bundle loads this module at the
 * first call of one of its functions, because the libraries would slow down every start of the emulator.
 */

/**
 * Compiles a regular expression in RE2 syntax. The returned function returns true if the expression matches anywhere in
 * the text. It searches only the first `FAULT_LIMITS.searched` characters. Throws an `Error` if the expression is invalid.
 *
 * RE2 searches in linear time, so an expression of a client cannot block other requests.
 */
export function compileRegex(expression: string): (text: string) => boolean {
  if (expression.length > FAULT_LIMITS.expression)
    throw new Error(`a regular expression has at most ${FAULT_LIMITS.expression} characters`);
  const compiled = RE2JS.compile(expression);
  return (text) => compiled.matcher(text.slice(0, FAULT_LIMITS.searched)).find();
}

/**
 * Compiles a JSONPath query (RFC 9535), such as `$.files[*].path`. The returned function returns the values that the
 * query selects. Throws an `Error` if the query is invalid.
 */
export function compileJsonPath(query: string): (value: unknown) => readonly unknown[] {
  const compiled = ENVIRONMENT.compile(query);
  return (value) => {
    try {
      return compiled.query(value as Parameters<typeof compiled.query>[0]).values();
    } catch {
      // The value has more levels than the library allows. Such a value is treated like a value that does not match.
      return [];
    }
  };
}

const ENVIRONMENT = new JSONPathEnvironment();

/** Function `match` or `search` of RFC 9535, section 2.4, in linear time. `around` anchors the expression. */
function regexFunction(around: (expression: string) => string): FilterFunction {
  return {
    argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
    returnType: FunctionExpressionType.LogicalType,
    call: (text: unknown, expression: unknown) => {
      if (typeof text !== 'string' || typeof expression !== 'string') return false;
      try {
        return compileRegex(around(expression))(text);
      } catch {
        // RFC 9535: the result is LogicalFalse if the second argument is not a valid regular expression.
        return false;
      }
    },
  };
}

ENVIRONMENT.functionRegister.set(
  'match',
  regexFunction((expression) => `^(?:${expression})$`),
);
ENVIRONMENT.functionRegister.set(
  'search',
  regexFunction((expression) => expression),
);
